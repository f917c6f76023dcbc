import { metrics as api, type BatchObservableResult, type ObservableGauge } from '@opentelemetry/api';
import { Lease } from '../resources/coordination/lease.ts';
import { ConfigMap } from '../resources/core/config-map.ts';
import { phases, VMDiskImage } from '../resources/pelotech/vm-disk-image.ts';
import { operatorNamespace } from '../rules/operator.ts';
import { isValid, type Policy, parsePolicy, policyName } from '../rules/policy.ts';
import { freeIn, holdersOf, leaseName } from '../rules/slots.ts';
import type { Kube } from './kube.ts';
import { metricOf, metrics } from './metrics.ts';
import { scope } from './telemetry.ts';

type Reader = Pick<Kube, 'get' | 'pages'>;

/** What a scrape found in the API; undefined is what could not be read. */
interface State {
  policy: Policy | undefined;
  lease: Lease | undefined;
  imagesByPhase: ReadonlyMap<string, number> | undefined;
}

/** A scrape waits this long for the API server: Prometheus gives up after 10 s and would lose all other metrics too. */
const defaultTimeoutMs = 5000;

/**
 * Computes the state gauges from the API at each scrape, which one always-on function does for all; the returned
 * function ends it. What cannot be read is absent from that scrape and harms no other metric. Start the SDK first.
 */
export function observeState(kube: Reader, { timeoutMs = defaultTimeoutMs } = {}): () => void {
  const meter = api.getMeter(scope);
  const gauges = new Map<string, ObservableGauge>();
  for (const { name, kind, unit, description } of metrics) {
    if (kind === 'observableGauge') gauges.set(name, meter.createObservableGauge(name, { unit, description }));
  }
  const observe = async (result: BatchObservableResult) => {
    const state = await readState(kube, timeoutMs);
    for (const { metric, value, attributes } of pointsOf(state)) {
      const gauge = gauges.get(metric);
      if (gauge) result.observe(gauge, value, attributes);
    }
  };
  meter.addBatchObservableCallback(observe, [...gauges.values()]);
  return () => meter.removeBatchObservableCallback(observe, [...gauges.values()]);
}

/** Reports the bytes that `bytesSent` counts since its beginning, exact, where somebody can count them. */
export function observeDownloads(bytesSent: () => number): () => void {
  const { name, unit, description } = metricOf('ot.image.download.io');
  const counter = api.getMeter(scope).createObservableCounter(name, { unit, description });
  const observe = (result: { observe(value: number): void }) => result.observe(bytesSent());
  counter.addCallback(observe);
  return () => counter.removeCallback(observe);
}

/** A phase of the label for images that nobody has looked at yet. */
const unseen = 'Unseen';
const counted = [unseen, ...phases.filter((phase) => phase !== 'Succeeded')];

/** Not a number stands for "not known": the exporter leaves such points out. */
function pointsOf({ policy, lease, imagesByPhase }: State) {
  const held = holdersOf(lease);
  const count = (phase: string) => (imagesByPhase ? (imagesByPhase.get(phase) ?? 0) : Number.NaN);
  const point = (metric: string, value: number | undefined, attributes = {}) => ({
    metric,
    value: value ?? Number.NaN,
    attributes,
  });
  return [
    point('ot.image.queue.length', count('Queued')),
    ...counted.map((phase) => point('ot.images', count(phase), { phase })),
    point('ot.slots.held', held?.length),
    point('ot.slots.free', held && policy && freeUnder(policy, held)),
    point('ot.policy.valid', policy && (policy.faults.length === 0 ? 1 : 0)),
  ];
}

const freeUnder = (policy: Policy, held: NonNullable<ReturnType<typeof holdersOf>>) =>
  isValid(policy, 'concurrency') ? freeIn(held, policy.values.concurrency) : 0;

async function readState(kube: Reader, timeoutMs: number): Promise<State> {
  const own = { namespace: operatorNamespace };
  const [policy, lease, imagesByPhase] = await Promise.all([
    orUndefined('policy', timeoutMs, kube.get(ConfigMap, { ...own, name: policyName }).then(parsePolicy)),
    orUndefined('slots', timeoutMs, kube.get(Lease, { ...own, name: leaseName })),
    orUndefined('images', timeoutMs, countImages(kube)),
  ]);
  return { policy, lease, imagesByPhase };
}

async function countImages(kube: Reader): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { items } of kube.pages(VMDiskImage, { fieldSelector: 'status.phase!=Succeeded' })) {
    for (const { status } of items) {
      const phase = status?.phase ?? unseen;
      counts.set(phase, (counts.get(phase) ?? 0) + 1);
    }
  }
  return counts;
}

/** A scrape goes on without what cannot be read in time; why is for the operator's log. */
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
