import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import project from '../../package.json' with { type: 'json' };
import { hasKubectl } from '../../test/stories/local-world.ts';
import { startTestCluster } from '../../test/support/harness/install-cluster.ts';
import { findHelm, findKrew } from '../../test/support/tools/go/tools.ts';
import { Deployment } from '../cli/install/kinds.ts';
import { imagesIn, readWanted } from '../cli/install/manifests.ts';
import { documents, manifestKey } from '../manifests.ts';

const run = promisify(execFile);
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.warn('skipped: the command line installs only where there is kubectl');
const { version } = project;
const image = `registry.example/ot-functions:${version}@sha256:${'0a'.repeat(32)}`;

let folder: string;
let release: string;
const textOf = (name: string) => readFile(join(release, name), 'utf8');
const releaseInto = async (name: string, env: Record<string, string>) => {
  const output = join(folder, name);
  const args = [main, '--output', output, '--image', image, '--tag', `v${version}`];
  await run(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });
  return output;
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ot-release-test-'));
  release = await releaseInto('first', { TZ: 'America/Los_Angeles' });
}, 180_000);
afterAll(() => rm(folder, { recursive: true }));

test('a second run at another hour of another place gives the same bytes', { timeout: 180_000 }, async () => {
  const second = await releaseInto('second', { TZ: 'Asia/Tokyo', LANG: 'C', TMPDIR: folder });
  const names = await readdir(release);
  expect(await readdir(second)).toEqual(names);
  for (const name of names) {
    const [one, other] = await Promise.all([release, second].map((of) => readFile(join(of, name))));
    expect(one?.equals(other ?? Buffer.alloc(0)), name).toBe(true);
  }
});

test('SHA256SUMS names every other file, and krew gets the sum of its archive', async () => {
  const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release });
  const checked = stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/: OK$/, ''));
  expect(checked).toEqual((await readdir(release)).filter((name) => name !== 'SHA256SUMS').sort());
  const { spec } = parse(await textOf('ot.yaml'));
  const archive = `kubectl-ot-${version}.tar.gz`;
  const sums = new Map((await textOf('SHA256SUMS')).split('\n').map((line) => [line.slice(66), line.slice(0, 64)]));
  for (const { sha256, uri, bin, files } of spec.platforms) {
    expect(sha256).toBe(sums.get(archive));
    expect(uri).toMatch(new RegExp(`/v${version}/${archive}$`));
    expect(files.map(({ from }: { from: string }) => from)).toContain(bin);
  }
  const { stdout: listed } = await run('tar', ['-tvzf', archive], { cwd: release });
  expect(listed).toMatch(/^-rwxr-xr-x root\/root .* ot-functions\.mjs$/m);
  expect(listed).toMatch(/ LICENSE$/m);
});

test('a tag that is not the version, or an image without a digest, is no release', async () => {
  const refused = (...args: string[]) => run(process.execPath, [main, '--output', join(folder, 'none'), ...args]);
  await expect(refused('--tag', 'v9.9.9', '--image', image)).rejects.toThrow(`expected the tag v${version}`);
  await expect(refused('--tag', `v${version}`)).rejects.toThrow('expected --image with the digest');
});

test('the chart names the image, and its OCI layout holds it', async () => {
  const chart = `ot-functions-${version}.tgz`;
  const values = await run('tar', ['-xOzf', chart, 'ot-functions/values.yaml'], { cwd: release });
  const [repository, digest] = image.split('@');
  expect(parse(values.stdout).image).toMatchObject({ repository: repository?.split(':')[0], tag: version, digest });
  const layout = join(folder, 'layout');
  await run('sh', ['-c', 'mkdir "$1" && tar -xf "$2" -C "$1"', 'sh', layout, `ot-functions-chart-${version}.oci.tar`], {
    cwd: release,
  });
  const blob = async ({ digest = '', size = 0 }) => {
    const content = await readFile(join(layout, 'blobs/sha256', digest.replace('sha256:', '')));
    expect(content).toHaveLength(size);
    return content;
  };
  const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'));
  const manifest = JSON.parse(String(await blob(manifests[0])));
  expect(JSON.parse(String(await blob(manifest.config)))).toMatchObject({ name: 'ot-functions', version });
  expect(await blob(manifest.layers[0])).toEqual(await readFile(join(release, chart)));
});

const helm = await findHelm();
if (helm.missing) console.warn(`skipped: the chart is pulled only by a Helm 4: ${helm.missing}`);

test.skipIf(helm.missing)('Helm pulls the chart from a registry that has the OCI layout', async () => {
  const layout = join(folder, 'registry');
  const archive = join(release, `ot-functions-chart-${version}.oci.tar`);
  await run('sh', ['-c', 'mkdir "$1" && tar -xf "$2" -C "$1"', 'sh', layout, archive]);
  const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8'));
  const { digest, mediaType } = manifests[0];
  const server = createServer(async ({ url = '' }, response) => {
    const [, kind, ref = ''] = /\/(manifests|blobs)\/(.+)$/.exec(url) ?? [];
    if (!kind) return response.end('{}');
    const of = ref.startsWith('sha256:') ? ref : digest;
    const content = await readFile(join(layout, 'blobs/sha256', of.replace('sha256:', '')));
    const type = kind === 'manifests' ? mediaType : 'application/octet-stream';
    const headers = { 'content-type': type, 'docker-content-digest': of, 'content-length': content.length };
    return response.writeHead(200, headers).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const from = ['pull', `oci://127.0.0.1:${port}/charts/ot-functions`, '--version', version, '--plain-http'];
    await run(helm.path, from, { cwd: folder });
  } finally {
    server.close();
  }
  const name = `ot-functions-${version}.tgz`;
  expect((await readFile(join(folder, name))).equals(await readFile(join(release, name)))).toBe(true);
});

const krew = await findKrew();
if (krew.missing) console.warn(`skipped: the plugin is installed only by krew: ${krew.missing}`);

test.skipIf(krew.missing || !isKubectlThere)('krew installs the plugin, which kubectl then runs', async () => {
  const root = join(folder, 'krew');
  const env = { ...process.env, KREW_ROOT: root, PATH: `${join(root, 'bin')}:${process.env.PATH}` };
  const archive = join(release, `kubectl-ot-${version}.tar.gz`);
  const install = ['install', '--manifest', join(release, 'ot.yaml'), '--archive', archive];
  await run(krew.path, install, { env });
  expect((await run('kubectl', ['ot', '--version'], { env })).stdout).toBe(`ot-functions ${version}\n`);
});

test('npm installs the command without a registry', async () => {
  const prefix = join(folder, 'npm');
  const archive = join(release, `ot-functions-npm-${version}.tgz`);
  await run('npm', ['install', '--global', '--offline', '--prefix', prefix, archive], { cwd: folder });
  const { stdout } = await run(join(prefix, 'bin', 'ot-functions'), ['--version'], { cwd: folder });
  expect(stdout).toBe(`ot-functions ${version}\n`);
});

describe('the bundled command, in a folder with nothing else', () => {
  let alone: string;
  beforeAll(async () => {
    alone = await mkdtemp(join(tmpdir(), 'ot-alone-'));
    await cp(join(release, 'ot-functions.mjs'), join(alone, 'ot-functions.mjs'));
    for (const name of ['kubectl-ot', 'kubectl_complete-ot']) await symlink('ot-functions.mjs', join(alone, name));
  });
  afterAll(() => rm(alone, { recursive: true }));
  const called = (name: string, ...args: string[]) =>
    run(process.execPath, [join(alone, name), ...args], { cwd: alone, env: { ...process.env, TMPDIR: alone } });

  test('is this release, called as kubectl calls it, and completes', async () => {
    expect((await called('ot-functions.mjs', '--version')).stdout).toBe(`ot-functions ${version}\n`);
    expect((await called('kubectl-ot', 'status', '--help')).stdout).toContain('kubectl ot status');
    expect((await called('kubectl_complete-ot', 'statu')).stdout).toContain('status');
  });

  test.skipIf(!isKubectlThere)(
    'installs what install-deployments.yaml has, with its image, and removes it again',
    { timeout: 120_000 },
    async () => {
      const cluster = await startTestCluster();
      try {
        await writeFile(join(alone, 'kubeconfig'), cluster.kubeconfig);
        const at = ['--kubeconfig', 'kubeconfig'];
        await called('ot-functions.mjs', 'install', '--overlay', 'deployments', '--skip-check', ...at);
        const found = await cluster.kube.list(Deployment, { namespace: 'sync-operator' });
        const theirs = documents(await textOf('install-deployments.yaml')).filter(({ kind }) => kind === 'Deployment');
        expect(found.map(({ metadata }) => metadata.name).sort()).toEqual(
          theirs.map(({ metadata }) => metadata.name).sort(),
        );
        expect(new Set(found.flatMap(imagesIn))).toEqual(new Set([image]));
        await called('ot-functions.mjs', 'uninstall', ...at);
        expect(await cluster.kube.list(Deployment, { namespace: 'sync-operator' })).toEqual([]);
      } finally {
        await cluster.close();
      }
      expect((await readdir(alone)).filter((name) => name.startsWith('ot-functions-'))).toEqual([]);
    },
  );
});

test.skipIf(!isKubectlThere)('install.yaml is what the command line installs, without the policy', async () => {
  for (const [file, overlay] of [
    ['install.yaml', 'serving'],
    ['install-deployments.yaml', 'deployments'],
  ] as const) {
    const byKey = (objects: readonly Parameters<typeof manifestKey>[0][]) =>
      Object.fromEntries(objects.map((object) => [manifestKey(object), object]));
    const installed = byKey(await readWanted(overlay, image));
    const policy = documents(await textOf('policy.yaml'));
    expect({ ...byKey(documents(await textOf(file))), ...byKey(policy) }).toEqual(installed);
  }
});
