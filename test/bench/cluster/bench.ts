import { setTimeout } from 'node:timers/promises';
import { bindingsInImageNamespaces } from '../../../deploy/cli/install/image-namespaces.ts';
import { optionsOf, UsageError } from '../../../deploy/terminal/arguments.ts';
import { endWithReader, lookOf } from '../../../deploy/terminal/output.ts';
import { defaultGracePeriodMs, leaseRef } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { added, writesSoFar } from '../../cluster/audit.ts';
import {
  applyText,
  install,
  manifestsIn,
  type Overlay,
  prepare,
  removeFunctions,
  textOf,
} from '../../cluster/installation.ts';
import { kubectlOrFail, nodeAddress } from '../../cluster/kubectl.ts';
import { adminClient } from '../../cluster/world.ts';
import { setPolicy, until } from '../../stories/world.ts';
import { loadNow, machineOf } from '../machine.ts';
import { measureBeside } from './beside.ts';
import { besideCosts, reportBeside } from './beside-costs.ts';
import { cpuBetween, cpuSoFar } from './cpu.ts';
import { type DriverRun, drive, secondsFor, startFloor } from './driver.ts';
import floorFunction, { floorDefinition, floorGroup } from './floor/function.ts';
import { buildKnativeFloor, startKnativeFloor } from './floor/start.ts';
import { benchNamespace, benchPolicy, type Source, startSource } from './images.ts';
import { measureInspection, reportInspection } from './inspection-cost.ts';
import { memoryByPart } from './memory.ts';
import { counts } from './others.ts';
import { type ClusterResult, type Driven, report } from './report.ts';
import { measureWakes } from './wake.ts';

const help = `npm run bench:cluster [-- options]

Measures the functions on a real Kubernetes with real Knative, as they are installed: how long a function that sleeps takes
to its first answer, next to an empty one; what memory the functions and their sources hold; and, by the bench that knows no controller, how
fast images go through and what CPU each part of the cluster spends on one, next to the least that any controller has to
write (floor), before and after: in one program without Knative, and in one function through Knative.

Options
  --only PART    wake or sync; both by default
  --rounds N     how often each function is woken, 1 to 50; 5 by default
  --runs LIST    images:slots:milliseconds of a download, by commas; 100:4:200,500:8:200 by default
  --overlay WHAT serving or deployments: how the functions run; serving by default
  --beside       instead: what an image costs alone, and beside ${counts.machines} machines, ${counts.workspaces} workspaces and ${counts.servers} servers that are changed
  --inspection   instead: what an image costs whose source is inspected, and one whose source is not
  --json         print the result as one JSON document
  --help         print this

Progress goes to stderr. Exit code: 0 if all promises hold, 1 if one is broken (an aim that is missed is only
said), 2 for a wrong option.
`;

const ours = { readyPhase: 'Succeeded', group: 'pelotech.ot' };
const floors = { readyPhase: 'Ready', group: floorGroup };
/** Knative's ingress for names inside the cluster, as a test in the node's network reaches it. */
const gateway = process.env.OT_GATEWAY ?? 'http://172.30.0.1:8080';

async function main(): Promise<number> {
  try {
    const options = optionsOf('npm run bench:cluster --', process.argv.slice(2), {
      only: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      runs: { type: 'string', default: '100:4:200,500:8:200' },
      overlay: { type: 'string', default: 'serving' },
      beside: { type: 'boolean' },
      inspection: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    const parts = options.only === undefined ? ['wake', 'sync'] : [options.only];
    const wrong = parts.find((part) => part !== 'wake' && part !== 'sync');
    if (wrong) throw new UsageError(`--only: expected wake or sync, found ${wrong}`);
    const { overlay } = options;
    if (overlay !== 'serving' && overlay !== 'deployments')
      throw new UsageError(`--overlay: expected serving or deployments, found ${overlay}`);
    if (options.beside) return await benchBeside(options.json === true);
    if (options.inspection) return await benchInspection(options.json === true);
    return await bench(
      { parts, rounds: numberOf(options.rounds), runs: runsOf(options.runs), overlay },
      options.json === true,
    );
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function numberOf(text: string): number {
  if (/^[1-9]\d?$/.test(text) && Number(text) <= 50) return Number(text);
  throw new UsageError(`--rounds: expected a whole number from 1 to 50, found ${JSON.stringify(text)}`);
}

function runsOf(text: string): DriverRun[] {
  return text.split(',').map((run) => {
    const [, images, slots, importMs] = /^(\d{1,4}):(\d{1,3}):(\d{1,5})$/.exec(run) ?? [];
    if (!importMs) throw new UsageError(`--runs: expected images:slots:milliseconds such as 100:4:200, found ${run}`);
    return { images: Number(images), slots: Number(slots), importMs: Number(importMs), ...ours };
  });
}

const say = (line: string) => process.stderr.write(`bench: ${line} ...\n`);

interface Wanted {
  parts: readonly string[];
  rounds: number;
  runs: readonly DriverRun[];
  overlay: Overlay;
}

async function bench({ parts, rounds, runs, overlay }: Wanted, isJson: boolean): Promise<number> {
  endWithReader(process.stdout);
  const loadBefore = loadNow();
  const driven: Driven[] = [];
  const source = await startSource(await nodeAddress());
  await prepare();
  await applyText(benchObjects);
  await kubectlOrFail('wait', '--for=condition=Established', 'customresourcedefinitions', '--all', '--timeout=60s');
  if (parts.includes('sync')) {
    await buildKnativeFloor();
    driven.push(...(await driveFloors('before', runs, overlay, source)));
  }
  say('installing the functions');
  await install(overlay, { timers: 'production' });
  await letInspect(overlay);
  // The Pod of the floor may still be ending.
  const memory = (await memoryByPart()).filter(({ part }) => part !== floorFunction.name);
  const wakes = parts.includes('wake') && overlay === 'serving' ? await measureWakes(rounds, gateway, say) : [];
  if (parts.includes('sync')) {
    for (const run of runs) {
      await untilSlotsAreGiven();
      say(`${run.images} images through ${run.slots} slots`);
      const before = await writesSoFar();
      const one = await measured(`ot-functions, ${overlay}`, run, source);
      await refuseFailed();
      await deleteAll(['vmdiskimages.pelotech.ot'], run.images);
      driven.push({ ...one, writes: added(before, await writesSoFar()) });
    }
    await removeFunctions();
    driven.push(...(await driveFloors('after', runs, overlay, source)));
  }
  await source.close();
  const result: ClusterResult = { machine: machineOf(loadBefore), wakes, memory, driven };
  return print(result, report(result, lookOf(process.stdout)), isJson);
}

async function benchBeside(isJson: boolean): Promise<number> {
  const { loadBefore, host, source, ready } = await prepareRuns();
  const found = await measureBeside({ kube: adminClient(), source, host, runs: besideRuns, ready, say });
  await source.close();
  const costs = besideCosts(found);
  const machine = machineOf(loadBefore);
  return print({ ...found, costs, machine }, reportBeside(costs, machine, lookOf(process.stdout)), isJson);
}

async function benchInspection(isJson: boolean): Promise<number> {
  const { loadBefore, source, ready } = await prepareRuns();
  say('installing the functions');
  await install('serving', { timers: 'production' });
  await ready();
  const found = await measureInspection(adminClient(), source, say);
  await source.close();
  const machine = machineOf(loadBefore);
  return print({ ...found, machine }, reportInspection(found, machine, lookOf(process.stdout)), isJson);
}

async function prepareRuns() {
  endWithReader(process.stdout);
  const loadBefore = loadNow();
  const host = await nodeAddress();
  const source = await startSource(host);
  await prepare();
  await applyText(benchObjects);
  // After each installation, which brings the policy that is shipped.
  const ready = async () => {
    await letInspect('serving');
    await setPolicy({ kube: adminClient() }, benchPolicy(source, runSlots));
    await untilSlotsAreGiven();
  };
  return { loadBefore, host, source, ready };
}

function print(result: object, { lines, ok }: { lines: readonly string[]; ok: boolean }, isJson: boolean): number {
  process.stdout.write(`${isJson ? JSON.stringify({ ok, ...result }, undefined, 2) : lines.join('\n')}\n`);
  return ok ? 0 : 1;
}

const runSlots = 4;
const besideRuns = 3;

/** Nothing is granted for a while after the slot Lease was made: that is measured once in a cluster's life, not here. */
async function untilSlotsAreGiven(): Promise<void> {
  const ref = leaseRef;
  const lease = await until({ kube: adminClient() }, Lease, ref, (found) => found !== undefined, 60_000);
  const over = Date.parse(lease?.spec?.acquireTime ?? '') + defaultGracePeriodMs - Date.now();
  if (over > 0) await setTimeout(over);
}

async function measured(who: string, run: DriverRun, source: Source): Promise<Driven> {
  const [before, asked] = [await cpuSoFar(), source.asked()];
  const result = await drive(benchFolder(), run, source);
  return { who, run, result, cpu: cpuBetween(before, await cpuSoFar()), sourceRequests: source.asked() - asked };
}

/** Images that are refused cost little: their figures would look like good ones. */
async function refuseFailed(): Promise<void> {
  const images = await adminClient().list(VMDiskImage, { namespace: benchNamespace });
  const failed = images.filter(({ status }) => status?.phase === 'Failed');
  if (!failed[0]) return;
  const said = conditionOf(failed[0].status?.conditions, 'Ready')?.message ?? 'it says no reason';
  throw new Error(`expected no image of the bench to fail, found ${failed.length} of ${images.length} Failed: ${said}`);
}

async function driveFloors(
  when: string,
  runs: readonly DriverRun[],
  overlay: Overlay,
  source: Source,
): Promise<Driven[]> {
  const driven: Driven[] = [];
  const kinds = [
    ['floor', (slots: number) => startFloor(benchFolder(), floors.group, slots)],
    ['floor through Knative', (slots: number) => startKnativeFloor(overlay, slots)],
  ] as const;
  for (const [kind, start] of kinds) {
    for (const run of runs) {
      const who = `${kind}, ${when}`;
      say(`${who}: ${run.images} images through ${run.slots} slots`);
      const floor = await start(run.slots);
      driven.push(await measured(who, { ...run, ...floors }, source));
      // It removes its finalizers, and the garbage collector the rest, which has the same names in the next run.
      await deleteAll([`vmdiskimages.${floors.group}`, 'datavolumes', 'volumesnapshots'], run.images);
      await floor.stop();
    }
  }
  return driven;
}

function benchFolder(): string {
  const folder = process.env.OT_BENCH;
  if (!folder) throw new Error('expected OT_BENCH to name the folder of the outside bench, found none');
  return folder;
}

/**
 * Deletes all objects of these kinds, and waits until they are gone. After the figures: deleting is not part of what an image costs to
 * get ready. kubectl's own wait looks for one object after the other, a few a second.
 */
async function deleteAll(kinds: readonly string[], images: number): Promise<void> {
  for (const kind of kinds) await kubectlOrFail('delete', kind, '--all', '-A', '--wait=false');
  const over = Date.now() + secondsFor(images) * 1000;
  for (;;) {
    const left = await kubectlOrFail('get', kinds.join(','), '-A', '--output=name');
    if (left === '') return;
    if (Date.now() > over)
      throw new Error(`expected ${kinds[0]} to be gone within ${secondsFor(images)} s, found ${left.split('\n')[0]}`);
    await setTimeout(1000);
  }
}

/** Lets inspect-source read the Secret that the images name, as the installer does for each namespace of images. */
async function letInspect(overlay: Overlay): Promise<void> {
  const kube = adminClient();
  await setPolicy({ kube }, { imageNamespaces: benchNamespace });
  await applyText(textOf(await bindingsInImageNamespaces({ kube, say }, await manifestsIn(overlay))));
}

/** What the outside bench's images name. */
const benchObjects = textOf([
  floorDefinition,
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: benchNamespace } },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: benchNamespace, namespace: benchNamespace },
    stringData: { accessKeyId: 'x', secretKey: 'x' },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: benchNamespace },
    provisioner: 'bench.example.com',
  },
  {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotClass',
    metadata: { name: benchNamespace },
    driver: 'bench.example.com',
    deletionPolicy: 'Delete',
  },
]);

process.exit(await main());
