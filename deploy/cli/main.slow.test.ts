import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { publicationKeysRef } from '../../shared/images/signature.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { policyRef } from '../../shared/policy.ts';
import { publicationKey, trustPublicationKey } from '../../test/support/builders/publications.ts';
import { otIn } from '../../test/support/tools/ot-process.ts';
import { createPublicationKey } from '../keys.ts';
import { startObjectStore } from '../local/object-store/object-store.ts';
import { qcow2Buffer } from '../local/object-store/qcow2.ts';
import { type LocalCluster, startLocal } from '../local/start.ts';
import { Definition, Namespace } from './install/kinds.ts';

const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const farm = 'vmdi-farm';

let cluster: LocalCluster;
let store: Awaited<ReturnType<typeof startObjectStore>>;
let folder: string;
let kubeconfig: string;
beforeAll(async () => {
  store = await startObjectStore({ keys: [keys] });
  cluster = await startLocal({ schedules: { sweep: '* * * * * *' }, gracePeriodMs: 0 });
  folder = await mkdtemp(join(tmpdir(), 'ot-cli-'));
  kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.server.kubeconfig().replace('namespace: default', `namespace: ${farm}`));
  const { kube } = cluster;
  if (!(await kube.get(Namespace, { name: farm }))) await kube.create(Namespace, { metadata: { name: farm } });
  await kube.patch(ConfigMap, policyRef, { data: { allowedSources: `${store.url}/** s3-reader` } });
  const data = { accessKeyId: base64(keys.accessKeyId), secretKey: base64(keys.secretKey) };
  const reader = { namespace: farm, name: 's3-reader' };
  if (!(await kube.get(Secret, reader))) await kube.create(Secret, { metadata: reader, data });
  else await kube.patch(Secret, reader, { data });
  for (const name of ['ubuntu', 'debian', 'fedora']) await putImage(name);
  await ot('preload', 'ubuntu', '--url', urlOf('ubuntu'), '--digest', 'sha256:1');
  expect(await ot('wait', 'image/ubuntu', '--timeout', '30s')).toMatchObject({ code: 0 });
}, 60_000);
afterAll(async () => {
  await cluster.close();
  await store.close();
  await rm(folder, { recursive: true });
});

/** The real command line on that cluster. */
const ot = (...args: string[]) => otIn({ KUBECONFIG: kubeconfig }, ...args);
const urlOf = (name: string) => `${store.url}/images/${name}.qcow2`;
const putImage = (name: string) =>
  store.put('images', `${name}.qcow2`, qcow2Buffer({ virtualBytes: 1 << 25, dataBytes: 1 << 18, seed: name }));

const typed = 'ot-functions retry ub';
/** A shell, its input, and what it prints: zsh completes for a terminal only, in which a tab is typed. */
const shells: [string, string[], string][] = [
  [
    'bash',
    [
      '-c',
      `eval "$(ot-functions completion bash)"; COMP_WORDS=(${typed}); COMP_CWORD=2; _ot_functions; echo "\${COMPREPLY[@]}"`,
    ],
    'ubuntu\n',
  ],
  [
    'zsh',
    [
      '-fc',
      `zmodload zsh/zpty; zpty z zsh -fi; zpty -w z 'PS1=; autoload -Uz compinit; compinit -u -D; source <(ot-functions completion zsh); echo loa"ded"'
       zpty -r z out '*loaded*'; zpty -wn z $'${typed}\\t'; zpty -r z out '*untu*'; echo \${out[-4,-1]}`,
    ],
    'untu\n',
  ],
  ['fish', ['--no-config', '-c', `ot-functions completion fish | source; complete -C '${typed}'`], 'ubuntu\n'],
  ['kubectl', ['__complete', 'ot', 'retry', 'ub'], 'ubuntu\n:4\n'],
];

describe('the command line', { timeout: 60_000 }, () => {
  test('an image that is preloaded during a pause waits, starts after it, and ot-functions wait sees its end', async () => {
    expect(await ot('pause')).toMatchObject({ code: 0, out: expect.stringContaining('Paused') });
    expect(await ot('preload', 'fedora', '--url', urlOf('fedora'), '--digest', 'sha256:2')).toMatchObject({ code: 0 });
    await expect
      .poll(async () => (await ot('queue')).out, { timeout: 20_000 })
      .toMatch(/1 {6}vmdi-farm\/fedora.*unknown/);
    expect(await ot('why', 'fedora')).toMatchObject({ code: 5, out: expect.stringContaining('ot-functions resume') });
    expect((await ot('status')).out).toMatch(/the queue is paused.*\nWhat would help: ot-functions resume\n/);
    expect(await ot('wait', 'fedora', '--timeout', '1s')).toMatchObject({
      code: 124,
      out: expect.stringContaining('Not Ready within 1s'),
    });
    expect(await ot('doctor')).toMatchObject({
      code: 1,
      out: expect.stringContaining('remedy    ot-functions resume'),
    });
    expect(await ot('resume')).toMatchObject({ code: 0, out: 'Resumed with concurrency 4, as before.\n' });
    const waited = await ot('wait', 'image/fedora', '--timeout', '30s');
    expect(waited).toMatchObject({ code: 0, err: '' });
    expect(waited.out).toMatch(/VMDiskImage vmdi-farm\/fedora: Succeeded: .*\n$/);
    expect(waited.out).not.toContain('\u001b');
    expect(await ot('status')).toMatchObject({ code: 0 });
    const queue = JSON.parse((await ot('queue', '--json')).out);
    expect(JSON.parse((await ot('queue', '-o', 'json')).out)).toEqual(queue);
    expect(parse((await ot('queue', '-o', 'yaml')).out)).toEqual(queue);
    expect((await ot('status', 'image', '-o', 'name')).out).toMatch(/^vmdiskimage.pelotech.ot\/fedora$/m);
    expect(queue).toMatchObject({ waiting: [], basis: { count: expect.any(Number) } });
  });

  test('as with kubectl, the namespace of the context is where to look, and -A looks everywhere', async () => {
    const at = async (...args: string[]) => (await ot('status', ...args)).out;
    expect(await at()).toContain('VMDiskImage vmdi-farm/ubuntu');
    expect(await at('-n', 'default')).toContain('no workspaces, machines or images in namespace default; -A looks');
    expect(await at('-n', 'default', 'workspace')).not.toContain('vmdi-farm');
    expect(await at('-A')).toContain('VMDiskImage vmdi-farm/ubuntu');
    expect(await ot('why', 'ubuntu', '-A')).toMatchObject({ code: 0 });
  });

  test('an image that fails is reported, explained, and retried after its upload', async () => {
    const late = ['preload', 'late', '--url', urlOf('late'), '--broker', cluster.broker, '--sign'];
    await cluster.kube.delete(Secret, publicationKeysRef).catch(() => undefined);
    const unsigned = await ot(...late);
    expect(unsigned).toMatchObject({
      code: 1,
      err: expect.stringContaining('kubectl create secret generic publication-keys'),
    });
    await createPublicationKey(cluster.kube);
    expect(await ot(...late)).toMatchObject({ code: 0 });
    await expect
      .poll(() => cluster.kube.get(VMDiskImage, { namespace: farm, name: 'late' }), { timeout: 10_000 })
      .toBeDefined();
    expect(await ot('wait', 'image/late', '--timeout', '30s')).toMatchObject({ code: 1 });
    expect(await ot('status', 'image', 'late')).toMatchObject({ code: 1, out: expect.stringContaining('First cause') });
    const why = await ot('why', 'late', '--json');
    expect(why.code).toBe(1);
    // The message ends with the command that the remedy has.
    const { steps, commands } = JSON.parse(why.out) as { steps: { says: string }[]; commands: string[] };
    expect(commands.at(-1)).toMatch(/^kubectl annotate vmdi late -n vmdi-farm pelotech.ot\/sync-requested=/);
    expect(steps[0]?.says).toContain(commands.at(-1));
    await putImage('late');
    expect(await ot('retry', 'late')).toMatchObject({ code: 0 });
    expect(await ot('wait', 'late', '--timeout', '30s')).toMatchObject({ code: 0 });
  });

  test('for an image whose Secret is missing, why says how to create it', async () => {
    const spec = {
      ...(await cluster.kube.get(VMDiskImage, { namespace: farm, name: 'ubuntu' }))?.spec,
      secretRef: 'nope',
    };
    await cluster.kube.create(VMDiskImage, { metadata: { namespace: farm, name: 'locked' }, spec });
    await expect
      .poll(() => ot('why', 'locked'), { timeout: 30_000 })
      .toMatchObject({ code: 1, out: expect.stringContaining('kubectl create secret generic nope -n vmdi-farm') });
    await cluster.kube.delete(VMDiskImage, { namespace: farm, name: 'locked' });
  });

  test('cost names who asked for the bytes, and images that were deleted since', async () => {
    const spec = (await cluster.kube.get(VMDiskImage, { namespace: farm, name: 'ubuntu' }))?.spec;
    const short = { namespace: farm, name: 'short' };
    await cluster.kube.create(VMDiskImage, { metadata: short, spec: { ...spec, url: urlOf('debian') } });
    expect(await ot('wait', 'short', '--timeout', '30s')).toMatchObject({ code: 0 });
    await cluster.kube.delete(VMDiskImage, short);
    await expect.poll(() => cluster.kube.get(VMDiskImage, short), { timeout: 20_000 }).toBeUndefined();
    const { rows } = JSON.parse((await ot('cost', '--by', 'requester', '--json')).out);
    expect(rows.map(({ name }: { name: string }) => name).sort()).toEqual(['direct', 'publication']);
    expect((await ot('cost', '--by', 'requester')).out).toMatch(/^REQUESTER +BYTES$/m);
    for (const since of [[], ['--since', '7d']])
      expect((await ot('cost', '--by', 'image', ...since)).out).toMatch(/^vmdi-farm\/short \(deleted\) +\d/m);
    expect(await ot('cost', '--by', 'user')).toMatchObject({
      code: 2,
      err: expect.stringContaining('expected --by namespace, image, requester, found user'),
    });
  });

  test('an image is kept, and no longer kept', async () => {
    const annotations = async () =>
      (await cluster.kube.get(VMDiskImage, { namespace: farm, name: 'ubuntu' }))?.metadata.annotations;
    expect(await ot('keep', 'vmdi-farm/ubuntu')).toMatchObject({ code: 0 });
    expect(await annotations()).toMatchObject({ 'pelotech.ot/keep': 'true' });
    expect(await ot('keep', 'ubuntu', '--off', '-n', farm)).toMatchObject({ code: 0 });
    expect(await annotations()).not.toHaveProperty('pelotech.ot/keep');
  });

  test('the policy is shown, set and refused', async () => {
    expect(await ot('policy', 'set', 'syncTimeout', '6h')).toMatchObject({ code: 0 });
    expect((await ot('policy')).out).toMatch(/syncTimeout +6h +set +4h/);
    expect(await ot('policy', 'unset', 'syncTimeout')).toMatchObject({ code: 0 });
    expect(await ot('policy', 'set', 'syncTimeout', 'long')).toMatchObject({ code: 2, out: '' });
  });

  test('a complete installation has no findings', async () => {
    await expect.poll(async () => (await ot('doctor')).out, { timeout: 20_000 }).toMatch(/Nothing found\.$/m);
    expect(JSON.parse((await ot('doctor', '--json')).out)).toEqual({ findings: [] });
  });

  test('a publication is signed with the key in OT_SIGNING_KEY, without a kubeconfig', async () => {
    await trustPublicationKey(cluster.kube);
    const signed = (key: string, name: string, ...more: string[]) =>
      otIn(
        { KUBECONFIG: '/nowhere', OT_SIGNING_KEY: key },
        ...['preload', name, '--url', urlOf('ubuntu'), '--broker', cluster.broker, ...more],
      );
    expect(await signed(publicationKey, 'never')).toMatchObject({ code: 0 });
    expect(await signed(publicationKey, 'signed', '--sign')).toMatchObject({ code: 0 });
    await expect
      .poll(() => cluster.kube.get(VMDiskImage, { namespace: farm, name: 'signed' }), { timeout: 10_000 })
      .toBeDefined();
    expect(await cluster.kube.get(VMDiskImage, { namespace: farm, name: 'never' })).toBeUndefined();
    expect(await signed('guess', 'x', '--sign')).toMatchObject({ code: 2, err: expect.not.stringContaining('guess') });
  });

  test.each([
    [2, ['statu'], /was status meant\?/],
    [2, ['policy', '-o', 'name'], /expected -o json, yaml, wide, found name/],
    [2, ['status', '-w', '-o', 'json'], /expected -w without -o, found -o json/],
    [2, ['policy', '-w'], /Unknown option '-w'/],
    [2, ['status', '--al'], /Unknown option '--al'/],
    [2, ['pause', 'now'], /expected nothing but options, found now/],
    [2, ['pause', '-n', 'vmdi-farm'], /Unknown option '-n'/],
    [2, ['wait', 'ubuntu', '--timeout', 'soon'], /expected a time such as 90s/],
    [2, ['status', '--kubeconfig', '/nowhere'], /expected a kubeconfig in \/nowhere/],
    [2, ['status', '--context', 'none'], /choose one with --context/],
    [3, ['preload', 'x', '--broker', 'http://127.0.0.1:9/'], /expected an answer from the Broker/],
    [2, ['preload', 'x', '--sign'], /expected --broker/],
    [4, ['why', 'ubunto'], /was ubuntu meant\?/],
    [4, ['why', 'ubunto', '-n', 'default'], /in namespace default, found none; was image\/vmdi-farm\/ubuntu meant\?$/m],
    [4, ['why', 'vmdi'], /expected vmdi\/NAME, or an object of the name vmdi, found no such object$/m],
    [
      4,
      ['why', 'ubuntu', '-n', 'default'],
      /in namespace default, found image\/vmdi-farm\/ubuntu; type: ot-functions why image\/vmdi-farm\/ubuntu$/m,
    ],
    [4, ['status', '-n', 'vmdi-fram'], /found vmdi-fram, which does not exist; was vmdi-farm meant\?/],
    [4, ['why', 'vmid/ubuntu'], /found vmid, which does not exist; was vmdi meant\?/],
    [4, ['retry', 'ubuntu', '-n', 'nope'], /found nope, which does not exist$/m],
    [2, ['status', '-n', 'default', '-A'], /found both/],
    [1, ['preload', 'x'], /expected --url URL, or imageUrlTemplate in the policy/],
  ])('ends with %i and one line: %j', async (code, args, says) => {
    const ended = await ot(...args);
    expect(ended).toMatchObject({ code, out: '' });
    expect(ended.err).toMatch(says);
    expect(ended.err.trimEnd()).not.toContain('\n');
  });

  test('a cluster that does not answer, and a cluster that denies access, exit with 3', async () => {
    const gone = join(folder, 'gone');
    await writeFile(gone, cluster.server.kubeconfig().replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:9'));
    expect(await otIn({ KUBECONFIG: gone }, 'status')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/cannot be reached: .*; is it running\? --context chooses another$/m),
    });
    const mean = join(folder, 'mean');
    const token = cluster.server.tokenFor({ namespace: 'sync-operator', name: 'preload' });
    await writeFile(mean, cluster.server.kubeconfig(token));
    const ended = await otIn({ KUBECONFIG: mean }, 'status');
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.err).toMatch(/403.*get that permission, or name a namespace/);
    expect(ended.err).not.toContain(token);
    expect((await otIn({ KUBECONFIG: mean }, 'queue')).err).toMatch(/403.*get that permission$/m);
  });

  test('names from the cluster complete', async () => {
    const complete = async (...words: string[]) => (await ot('__complete', ...words)).out.split('\n').slice(0, -2);
    expect(await complete('retry', 'ub')).toEqual(['ubuntu']);
    expect(await complete('why', 'image/ub')).toEqual(['image/ubuntu']);
    expect(await complete('status', 'vmdi', 'ub')).toEqual(['ubuntu']);
    expect(await complete('keep', '-n', 'default', '')).toEqual([]);
    expect(await complete('keep', '-n', 'vmdi-f')).toEqual(['vmdi-farm']);
    expect(await complete('kind', '')).toEqual(['up', 'down']);
  });

  for (const [shell, args, completed] of shells) {
    const isThere = spawnSync(shell, ['--help']).error === undefined;
    if (!isThere) console.log(`skipped: ${shell} completes only where there is ${shell}`);
    test.skipIf(!isThere)(`${shell} completes`, async () => {
      const bin = await mkdtemp(join(folder, 'bin-'));
      const launcher = fileURLToPath(new URL('launch.mjs', import.meta.url));
      for (const name of ['ot-functions', 'kubectl-ot', 'kubectl_complete-ot'])
        await symlink(launcher, join(bin, name));
      const env = { ...process.env, HOME: bin, KUBECONFIG: kubeconfig, PATH: `${bin}:${process.env.PATH}` };
      expect((await promisify(execFile)(shell, args, { env })).stdout).toBe(completed);
    });
  }

  test('the installer says in JSON what the cluster has, in one line what an installation lacks, and both as it was called', async () => {
    const { code, out, err } = await ot('check', '--overlay', 'deployments', '--json');
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({ isMet: true, requirements: expect.any(Array) });
    const asPlugin = { KUBECONFIG: kubeconfig, npm_lifecycle_event: 'ot' };
    const lacking = await otIn(asPlugin, 'install', '--overlay', 'deployments');
    expect(lacking).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^npm run ot --: expected the image of .*\n$/),
    });
    expect((await ot('install', '--overlay', 'none')).code).toBe(1);
    expect(await ot('kind', 'sideways')).toEqual({
      code: 2,
      out: '',
      err: 'ot-functions: expected one of up, down, found sideways\n',
    });
  });

  test('-w tells each change in a pipe, until it is stopped', async () => {
    const spec = (await cluster.kube.get(VMDiskImage, { namespace: farm, name: 'ubuntu' }))?.spec;
    const child = spawn(process.execPath, [fileURLToPath(new URL('launch.mjs', import.meta.url)), 'status', '-w'], {
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const told: string[] = [];
    const lines = createInterface(child.stdout).on('line', (line) => told.push(line));
    const untilTold = (pattern: RegExp) =>
      expect.poll(() => told.some((line) => pattern.test(line)), { timeout: 30_000 }).toBe(true);
    const ended = once(child, 'close');
    try {
      await untilTold(/^VMDiskImage vmdi-farm\/ubuntu: Succeeded$/);
      const watched = { namespace: farm, name: 'watched' };
      await cluster.kube.create(VMDiskImage, { metadata: watched, spec: { ...spec, url: urlOf('debian') } });
      await untilTold(/^VMDiskImage vmdi-farm\/watched: Succeeded$/);
      await cluster.kube.delete(VMDiskImage, watched);
      await untilTold(/^VMDiskImage vmdi-farm\/watched: gone$/);
      expect(told.filter((line) => line.includes('/ubuntu'))).toHaveLength(1);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toEqual([143, null]);
    lines.close();
  });

  test.each(['check', 'install', 'upgrade', 'uninstall'])('a signal ends %s at once', async (command) => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const config = join(folder, 'silent');
    await writeFile(
      config,
      (await readFile(kubeconfig, 'utf8')).replace(/server: .*/, `server: http://127.0.0.1:${port}`),
    );
    const child = spawn(process.execPath, [fileURLToPath(new URL('main.ts', import.meta.url)), command], {
      env: { ...process.env, KUBECONFIG: config },
      stdio: 'ignore',
    });
    const ended = once(child, 'close');
    await once(silent, 'request');
    child.kill('SIGINT');
    expect(await ended).toEqual([null, 'SIGINT']);
    silent.closeAllConnections();
    silent.close();
  });

  test('the version of the functions is that of their images', async () => {
    const told = await ot('version', '-o', 'json');
    expect(told).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(told.out)).toMatchObject({ version: expect.stringMatching(/^\d/), images: expect.any(Array) });
    expect((await ot('version')).out).toMatch(/^ot-functions \d.*\nfunctions of the cluster: those of its checkout/);
  });

  test('--as acts as another user', async () => {
    expect((await ot('queue', '--as', 'jane', '--as-group', 'dev')).err).toMatch(/403.*jane.*get that permission$/m);
    expect(await ot('queue', '--as', 'jane', '--as-group', 'system:masters')).toMatchObject({ code: 0 });
    expect(await ot('queue', '--as-group', 'dev')).toMatchObject({ code: 2 });
  });

  test('a cluster without the OpenStack kinds shows all other kinds', async () => {
    const definitions = (await cluster.kube.list(Definition)).filter(({ metadata }) =>
      metadata.name.endsWith('.kupenstack.io'),
    );
    for (const { metadata } of definitions) await cluster.kube.delete(Definition, metadata);
    onTestFinished(async () => {
      for (const { metadata, spec } of definitions)
        await cluster.kube.create(Definition, { metadata: { name: metadata.name }, spec });
    });
    const status = await ot('status');
    expect(status).toMatchObject({ code: 0, err: '' });
    expect(status.out).toContain('VMDiskImage vmdi-farm/ubuntu');
    expect(await ot('wait', 'volume/disk')).toMatchObject({ code: 4, out: '' });
    expect(await ot('why', 'ubuntu')).toMatchObject({ code: 0 });
  });
});
