import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startConsole } from '../../../deploy/console/start.ts';
import type { View } from '../../../deploy/console/view.ts';
import type { LocalCluster } from '../../../deploy/local/start.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from '../../stories/images.ts';
import { hasKubectl, onLocalCluster } from '../../stories/local-world.ts';
import { createMachine, untilMachine } from '../../stories/machines.ts';
import { untilPhase, type World } from '../../stories/world.ts';
import { findHelm } from '../../support/tools/go/tools.ts';
import { goMissing } from '../../support/tools/go.ts';
import { otIn } from '../../support/tools/ot-process.ts';
import { writeImageChart } from './image-chart.ts';
import { askKstatus } from './kstatus.ts';

/** What all readers are to report for an image. */
const verdicts = ['under way', 'usable', 'failed', 'being deleted'] as const;
type Verdict = (typeof verdicts)[number];

/** An image of each name, and what it is. */
const states: Readonly<Record<string, Verdict>> = {
  queued: 'under way',
  syncing: 'under way',
  retrying: 'under way',
  failed: 'failed',
  succeeded: 'usable',
  held: 'being deleted',
};
const names = Object.keys(states);

type Vocabulary = Readonly<Record<Verdict, RegExp>>;
/** Flux and Argo CD have no word for an object that is being deleted: to them it is not done. */
const withoutDeletion = (progress: RegExp, usable: RegExp, failed: RegExp): Vocabulary => ({
  'under way': progress,
  'being deleted': progress,
  usable,
  failed,
});
const phaseWords: Vocabulary = {
  'under way': /^(Queued|Syncing|Snapshotting|Retrying) under way$/,
  usable: /^Succeeded Ready$/,
  failed: /^Failed Failed$/,
  'being deleted': /^Terminating under way$/,
};

/** What each reader says of an image that is so. */
const vocabularies = {
  'kubectl get': {
    'under way': /^(Queued|Syncing|Snapshotting|Retrying) \w+$/,
    usable: /^Succeeded Snapshot\w+$/,
    failed: /^Failed \w+$/,
    'being deleted': /^\w+ DeletionHeld [\dms]+$/,
  },
  'kubectl describe': {
    'under way': /^Reconciling$/,
    usable: /^Ready$/,
    failed: /^Stalled$/,
    'being deleted': /^Terminating DeletionHeld/,
  },
  'kubectl wait': {
    'under way': /^none$/,
    usable: /^Ready$/,
    failed: /^Stalled$/,
    'being deleted': /^DeletionHeld Ready$/,
  },
  kstatus: { 'under way': /^InProgress$/, usable: /^Current$/, failed: /^Failed$/, 'being deleted': /^Terminating$/ },
  Flux: withoutDeletion(/^InProgress$/, /^Current$/, /^Failed$/),
  'Helm 4': { 'under way': /^InProgress$/, usable: /^deployed$/, failed: /^Failed$/, 'being deleted': /^Terminating$/ },
  'Argo CD': withoutDeletion(/^Progressing$/, /^Healthy$/, /^Degraded$/),
  'ot status': phaseWords,
  console: phaseWords,
} as const satisfies Readonly<Record<string, Vocabulary>>;
type Reader = keyof typeof vocabularies;
/** By the name of the image. */
type Words = Readonly<Record<string, string>>;

const helm = await findHelm();
const missing =
  helm.missing ?? goMissing ?? ((await hasKubectl()) ? undefined : 'expected kubectl on the PATH, found none');
if (missing !== undefined) console.log(`skipped: what nine readers report for an image is not compared: ${missing}`);

const run = promisify(execFile);

test.skipIf(missing)(
  'nine readers report the same for an image in each of six states',
  async () => {
    let cluster: LocalCluster | undefined;
    const story = { name: 'readers', policy: { concurrency: '1', retryBackoffDuration: '1h' } };
    const compare = async (world: World) => {
      if (!cluster) throw new Error('expected a cluster');
      const folder = await mkdtemp(join(tmpdir(), 'ot-readers-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const kubeconfig = join(folder, 'kubeconfig');
      await writeFile(kubeconfig, cluster.server.kubeconfig());
      const env = { ...process.env, KUBECONFIG: kubeconfig };
      const asked = (program: string, ...args: string[]) =>
        run(program, args, { env }).then(
          ({ stdout }) => stdout,
          ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
        );
      const askHelm = (verb: string, name: string, ...more: string[]) =>
        asked(helm.path, verb, name, join(folder, name), '--namespace', world.namespace, ...more);
      await makeStates(world, async (name) => {
        await writeImageChart(join(folder, name), name, `${world.store.url}/images/${name}.qcow2`);
        expect(await askHelm('install', name)).toContain('STATUS: deployed');
      });
      const askKubectl = (...args: string[]) => asked('kubectl', '-n', world.namespace, ...args);
      const objects = await Promise.all(
        names.map(async (name) => (await world.kube.get(VMDiskImage, { namespace: world.namespace, name })) ?? {}),
      );
      const generic = await askKstatus(folder, objects);
      const words: Readonly<Record<Reader, Words>> = {
        'kubectl get': inTable(await askKubectl('get', 'vmdi')),
        'kubectl describe': await forEach(async (name) => inDescription(await askKubectl('describe', 'vmdi', name))),
        'kubectl wait': await forEach((name) => waitedFor(name, askKubectl)),
        kstatus: Object.fromEntries(names.map((name, index) => [name, generic[index]?.kstatus ?? ''])),
        Flux: Object.fromEntries(names.map((name, index) => [name, generic[index]?.flux ?? ''])),
        'Helm 4': await forEach(async (name) => inHelm(await askHelm('upgrade', name, '--wait', '--timeout', '2s'))),
        'Argo CD': Object.fromEntries(names.map((name, index) => [name, generic[index]?.argo ?? ''])),
        'ot status': inStatus((await otIn(env, 'status', '-n', world.namespace, '-o', 'json')).out),
        console: await inConsole(cluster, world.namespace),
      };
      console.log(tableOf(words));
      const found = names.map((name) => [name, meantBy(words, name)]);
      expect(Object.fromEntries(found)).toEqual(
        Object.fromEntries(
          Object.entries(states).map(([name, verdict]) => [
            name,
            Object.fromEntries(Object.keys(vocabularies).map((reader) => [reader, verdict])),
          ]),
        ),
      );
    };
    await onLocalCluster({ ...story, run: compare }, undefined, async (found) => {
      cluster = found;
    });
  },
  600_000,
);

/** Brings an image of each name to its state. The one slot is held by the download that stalls. */
async function makeStates(world: World, install: (name: string) => Promise<void>) {
  const { faults } = world.store;
  faults.push({ match: 'retrying', mode: 'cutAt', fraction: 0.5 }, { match: 'syncing', mode: 'stall', fraction: 0.5 });
  for (const name of names.filter((one) => one !== 'failed')) await putImage(world, name);
  for (const name of ['succeeded', 'held', 'failed', 'retrying', 'syncing', 'queued']) {
    await install(name);
    const phase = name === 'held' ? 'Succeeded' : `${name[0]?.toUpperCase()}${name.slice(1)}`;
    await untilPhase(world, name, phase);
  }
  await createMachine(world, 'desktop-1', 'held');
  await untilMachine(world, 'desktop-1', 'Ready');
  await world.kube.delete(VMDiskImage, { namespace: world.namespace, name: 'held' });
  await world.kubectl?.('wait', '-n', world.namespace, '--for=condition=DeletionHeld', 'vmdi/held', '--timeout=20s');
}

const forEach = async (ask: (name: string) => Promise<string>): Promise<Words> =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, await ask(name)] as const)));

/** PHASE, REASON and TERMINATING of each row. */
function inTable(text: string): Words {
  const [head = '', ...rows] = text.trimEnd().split('\n');
  const cell = (row: string, title: string) => (row.slice(head.indexOf(title)).match(/^\S+/) ?? [''])[0];
  return Object.fromEntries(
    rows.map((row) => {
      const cells = ['PHASE', 'REASON', 'TERMINATING'].map((title) => cell(row, title));
      return [cell(row, 'NAME'), cells.join(' ').trim()];
    }),
  );
}

/** Which of the conditions that sum an image up are True, in the words of kubectl describe. */
function inDescription(text: string): string {
  const conditions = text.split(/\n\s*(?=Last Transition Time:)/).slice(1);
  const isTrue = (type: string) =>
    conditions.some((one) => new RegExp(`Type: +${type}\\b`).test(one) && /Status: +True/.test(one));
  const found = ['DeletionHeld', 'Reconciling', 'Stalled', 'Ready'].filter(isTrue);
  const [first = ''] = found;
  return /^ *Deletion Timestamp:/m.test(text) ? `Terminating ${found.join(' ')}` : first;
}

/** The conditions that kubectl wait returns for at once. */
async function waitedFor(name: string, askKubectl: (...args: string[]) => Promise<string>): Promise<string> {
  const met: string[] = [];
  for (const condition of ['DeletionHeld', 'Stalled', 'Ready']) {
    const said = await askKubectl('wait', `--for=condition=${condition}`, `vmdi/${name}`, '--timeout=0');
    if (said.includes('condition met')) met.push(condition);
  }
  return met.join(' ') || 'none';
}

const inHelm = (text: string) => /(?<=STATUS: |not ready\. status: )\w+/.exec(text)?.[0] ?? text;

function inStatus(json: string): Words {
  const nodes = JSON.parse(json) as { kind: string; name: string; phase: string; state: string }[];
  return Object.fromEntries(
    nodes.filter(({ kind }) => kind === 'VMDiskImage').map(({ name, phase, state }) => [name, `${phase} ${state}`]),
  );
}

/** As the page gets it. */
async function inConsole({ kube }: LocalCluster, namespace: string): Promise<Words> {
  const anonymous = { name: 'admin', mayList: async () => true };
  const page = await startConsole({ kube, host: '127.0.0.1', port: 0, anonymous });
  try {
    const response = await fetch(`${page.url}/changes`);
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('\n\n')) break;
    }
    const data = /^data: (.*)$/m.exec(text)?.[1] ?? '';
    const { view } = JSON.parse(data) as { view: View };
    return Object.fromEntries(
      names.map((name) => {
        const row = view.images[`${namespace}/${name}`];
        return [name, `${row?.phase} ${row?.state}`];
      }),
    );
  } finally {
    await page.close();
  }
}

/** What each reader's word means, if it means one thing; of a reader without a word for deletion, what the others say. */
const meantBy = (words: Readonly<Record<Reader, Words>>, name: string) =>
  Object.fromEntries(
    Object.entries(vocabularies).map(([reader, vocabulary]) => {
      const word = words[reader as Reader][name] ?? '';
      const possible = verdicts.filter((verdict) => vocabulary[verdict].test(word));
      const verdict = possible.find((one) => one === states[name]) ?? possible[0];
      return [reader, verdict ?? `not understood: ${word}`];
    }),
  );

/** A row for each reader. */
const tableOf = (words: Readonly<Record<Reader, Words>>) =>
  tableLines(
    ['', ...names].map((title) => ({ title })),
    Object.entries(words).map(([reader, of]) => [reader, ...names.map((name) => of[name] ?? '')]),
    { columns: Number.POSITIVE_INFINITY, colour: false },
  ).join('\n');
