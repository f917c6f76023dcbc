import { metrics as api, type BatchObservableResult, type ObservableGauge } from '@opentelemetry/api';
import { bytesSince, egressIn, mostDays } from '../../images/egress.ts';
import { isDue } from '../../images/pruning.ts';
import { machinesOf, referencesAmong } from '../../images/references.ts';
import { freeIn, holdersOf, leaseRef } from '../../images/slots.ts';
import { Lease } from '../../kinds/coordination/lease.ts';
import { machinePhases, VirtualMachine } from '../../kinds/pelotech/virtual-machine.ts';
import { unreferenced, VMDiskImage } from '../../kinds/pelotech/vm-disk-image.ts';
import { componentPhases, Workspace, workspacePhases } from '../../kinds/pelotech/workspace.ts';
import { conditionOf } from '../../kubernetes/conditions.ts';
import { isValid, type Policy } from '../../policy.ts';
import type { Kube } from '../kube.ts';
import { readPolicy } from '../read-policy.ts';
import { add, countIn, point, unseen } from './gauge-points.ts';
import { countImages, type Images, imagePoints } from './image-gauges.ts';
import { metricOf, metrics } from './metrics.ts';
import { scope } from './telemetry.ts';

type Reader = Pick<Kube, 'get' | 'pages'>;

/** What a scrape found in the API; undefined is what could not be read. */
interface State {
  policy: Policy | undefined;
  lease: Lease | undefined;
  images: Images | undefined;
  unused: Unused | undefined;
  machines: Machines | undefined;
  workspaces: Workspaces | undefined;
}

/** What the images without a user, according to their status, come to. */
interface Unused {
  count: number;
  longestMs: number;
  /** How many may be pruned; undefined where the policy that says which is not known. */
  due: number | undefined;
}

/** What the workspaces come to. */
interface Workspaces {
  byPhase: ReadonlyMap<string, number>;
  late: number;
  componentsByPhase: ReadonlyMap<string, number>;
}

/** What the machines come to. */
interface Machines {
  byPhase: ReadonlyMap<string, number>;
  /** How many machines use each image that any uses; undefined where the policy that says which count is not known. */
  references: readonly number[] | undefined;
}

/** A scrape waits this long for the API server: Prometheus gives up after 10 s and would lose all other metrics too. */
const defaultTimeoutMs = 5000;

/**
 * Computes the state gauges from the API at each scrape, which one always-on function does for all; the returned
 * function ends it. What cannot be read is absent from that scrape and harms no other metric. Start the SDK first.
 */
export function observeState(kube: Reader, { timeoutMs = defaultTimeoutMs, now = Date.now } = {}): () => void {
  const meter = api.getMeter(scope);
  const gauges = new Map<string, ObservableGauge>();
  for (const { name, kind, unit, description } of metrics) {
    // Another process computes it (server-gauges.ts).
    if (kind === 'observableGauge' && name !== 'ot.servers')
      gauges.set(name, meter.createObservableGauge(name, { unit, description }));
  }
  const observe = async (result: BatchObservableResult) => {
    const state = await readState(kube, timeoutMs, now());
    for (const { metric, value, attributes } of [
      ...imagePoints(state.images, now()),
      ...slotPoints(state, now()),
      ...usePoints(state),
      ...workspacePoints(state),
    ]) {
      const gauge = gauges.get(metric);
      if (gauge) result.observe(gauge, value, attributes);
    }
  };
  meter.addBatchObservableCallback(observe, [...gauges.values()]);
  return () => meter.removeBatchObservableCallback(observe, [...gauges.values()]);
}

/** Reports the bytes that `bytesSent` counts since its beginning, exact, if they can be counted. */
export function observeDownloads(bytesSent: () => number): () => void {
  const { name, unit, description } = metricOf('ot.image.download.io');
  const counter = api.getMeter(scope).createObservableCounter(name, { unit, description });
  const observe = (result: { observe(value: number): void }) => result.observe(bytesSent());
  counter.addCallback(observe);
  return () => counter.removeCallback(observe);
}

function slotPoints({ policy, lease }: State, nowMs: number) {
  const held = holdersOf(lease);
  const budget = policy?.values.egressBudget;
  const days = budget?.days ?? mostDays;
  const spent = lease && bytesSince(egressIn(lease), days, nowMs);
  return [
    point('ot.slots.held', held?.length),
    point('ot.slots.free', held && policy && freeUnder(policy, held)),
    point('ot.egress.spent', spent),
    point('ot.egress.budget', budget?.bytes),
    point('ot.policy.valid', policy && (policy.faults.length === 0 ? 1 : 0)),
  ];
}

const bands: readonly (readonly [name: string, most: number])[] = [
  ['1', 1],
  ['2-10', 10],
  ['11-100', 100],
  ['101+', Number.POSITIVE_INFINITY],
];

function usePoints({ policy, unused, machines }: State) {
  const bandOf = (count: number) => bands.find(([, most]) => count <= most)?.[0];
  const banded = machines?.references && Map.groupBy(machines.references, bandOf);
  return [
    point('ot.image.references', unused?.count, { machines: '0' }),
    ...bands.map(([band]) =>
      point('ot.image.references', banded && (banded.get(band)?.length ?? 0), { machines: band }),
    ),
    point('ot.image.unreferenced.duration', unused && unused.longestMs / 1000),
    point('ot.image.prunable', policy && isValid(policy, 'pruneAfter') ? unused?.due : undefined),
    ...[unseen, ...machinePhases].map((phase) => point('ot.machines', countIn(machines?.byPhase, phase), { phase })),
  ];
}

const workspacePoints = ({ workspaces }: State) => [
  ...[unseen, ...workspacePhases].map((phase) =>
    point('ot.workspaces', countIn(workspaces?.byPhase, phase), { phase }),
  ),
  point('ot.workspace.late', workspaces?.late),
  ...componentPhases.map((phase) =>
    point('ot.workspace.components', countIn(workspaces?.componentsByPhase, phase), { phase }),
  ),
];

const freeUnder = (policy: Policy, held: NonNullable<ReturnType<typeof holdersOf>>) =>
  isValid(policy, 'concurrency') ? freeIn(held, policy.values.concurrency) : 0;

async function readState(kube: Reader, timeoutMs: number, nowMs: number): Promise<State> {
  const policy = readPolicy(kube);
  const slots = kube.get(Lease, leaseRef);
  const [known, lease, images, unused, machines, workspaces] = await Promise.all([
    orUndefined('policy', timeoutMs, policy),
    orUndefined('slots', timeoutMs, slots),
    orUndefined('images', timeoutMs, countImages(kube, policy, slots)),
    orUndefined('unused images', timeoutMs, countUnused(kube, policy, nowMs)),
    orUndefined('machines', timeoutMs, countMachines(kube, policy)),
    orUndefined('workspaces', timeoutMs, countWorkspaces(kube)),
  ]);
  return { policy: known, lease, images, unused, machines, workspaces };
}

async function countUnused(kube: Reader, policy: Promise<Policy>, nowMs: number): Promise<Unused> {
  let [count, longestMs, due] = [0, 0, 0];
  const known = await policy.catch(() => undefined);
  for await (const { items } of kube.pages(VMDiskImage, { fieldSelector: unreferenced })) {
    for (const image of items) {
      count++;
      longestMs = Math.max(longestMs, nowMs - Date.parse(image.status?.unreferencedSince ?? '') || 0);
      if (known && isDue(image, known, nowMs)) due++;
    }
  }
  return { count, longestMs, due: known && due };
}

async function countMachines(kube: Reader, policy: Promise<Policy>): Promise<Machines> {
  const byPhase = new Map<string, number>();
  const uses = new Map<string, number>();
  const known = await policy.catch(() => undefined);
  for await (const { items } of kube.pages(VirtualMachine)) {
    for (const { status } of items) add(byPhase, status?.phase ?? unseen);
    for (const { spec } of known ? referencesAmong(items, known) : []) add(uses, machinesOf(spec.vmDiskImageRef));
  }
  return { byPhase, references: known && [...uses.values()] };
}

async function countWorkspaces(kube: Reader): Promise<Workspaces> {
  const byPhase = new Map<string, number>();
  const componentsByPhase = new Map<string, number>();
  let late = 0;
  for await (const { items } of kube.pages(Workspace)) {
    for (const { status } of items) {
      add(byPhase, status?.phase ?? unseen);
      if (conditionOf(status?.conditions, 'WillBeLate')?.status === 'True') late++;
      for (const { phase } of status?.components ?? []) add(componentsByPhase, phase);
    }
  }
  return { byPhase, late, componentsByPhase };
}

/** A scrape continues without what cannot be read in time; the reason is logged. */
async function orUndefined<T>(what: string, timeoutMs: number, reading: Promise<T>): Promise<T | undefined> {
  const tooLate = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooLate.reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([reading, tooLate.promise]);
  } catch (error) {
    const message = `metrics without ${what}: ${error instanceof Error ? error.message : String(error)}`;
    console.error(JSON.stringify({ level: 'warn', message: message.slice(0, 500) }));
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
