import { snapshotFor } from '../../functions/follow-sync/snapshot.ts';
import { contentDigest } from '../../functions/start-sync/revision.ts';
import { loadFunctions } from '../../knative/functions.ts';
import { pingAttributes } from '../../knative/pings.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { snapshotName } from '../../shared/rules/names.ts';
import { type BenchCluster, benchNamespace, startBenchCluster } from './bench-cluster.ts';
import { accountOf } from './calls.ts';

/** What one pass cost one function while so many finished images lay about. */
export interface PassCost {
  /** What woke it. */
  wake: string;
  function: string;
  finished: number;
  reads: number;
  writes: number;
}

export const nothingToDo = 'sweep, nothing to do';
export const audit = 'audit, nothing to do';

/** Measures a pass of each function for each number of finished images; the numbers must rise. */
export async function measurePasses(finishedCounts: readonly number[]): Promise<PassCost[]> {
  return [...(await idlePasses(finishedCounts)), ...(await busyPasses(finishedCounts))];
}

const idlePasses = (finishedCounts: readonly number[]) =>
  withFinished(finishedCounts, async (cluster, costs) => [
    ...(await costs(nothingToDo, cluster.sweep)),
    ...(await costs('event about a finished image', () => cluster.post(changeOf(finishedName(0))))),
    ...(await costs(audit, () => cluster.post(pingAttributes('audit')))),
  ]);

/** With two images that sync for ever and three behind them. */
async function busyPasses(finishedCounts: readonly number[]): Promise<PassCost[]> {
  const begin = async (cluster: BenchCluster) => {
    await cluster.setConcurrency(2);
    for (let index = 0; index < 5; index++) await cluster.createImage(`waiting-${index}`);
    // One pass queues and starts them, the next has nothing to write.
    await cluster.sweep();
    await cluster.sweep();
  };
  const measure = async (cluster: BenchCluster, costs: Measure) => [
    ...(await costs('sweep, 2 sync and 3 wait', cluster.sweep)),
    ...(await costs('event, 2 sync and 3 wait', () => cluster.post(changeOf('waiting-0')))),
  ];
  return withFinished(finishedCounts, measure, begin);
}

type Measure = (wake: string, run: () => Promise<void>) => Promise<PassCost[]>;

async function withFinished(
  finishedCounts: readonly number[],
  measure: (cluster: BenchCluster, costs: Measure) => Promise<PassCost[]>,
  begin: (cluster: BenchCluster) => Promise<void> = async () => {},
): Promise<PassCost[]> {
  const functions = (await loadFunctions()).map(({ name }) => name);
  let asked: { method: string; user: string }[] = [];
  const cluster = await startBenchCluster({ intercept: (request) => void asked.push(request) });
  try {
    // Only what the bench posts wakes anybody, and that alone is counted.
    cluster.muteSources();
    await cluster.sweep();
    await begin(cluster);
    const found: PassCost[] = [];
    let made = 0;
    for (const finished of finishedCounts) {
      while (made < finished) made += await makeFinished(cluster, made, Math.min(finished - made, 16));
      const costs: Measure = async (wake, run) => {
        asked = [];
        await run();
        return functions.map((name) => {
          const own = asked.filter(({ user }) => user === accountOf(name));
          const reads = own.filter(({ method }) => method === 'GET').length;
          return { wake, function: name, finished, reads, writes: own.length - reads };
        });
      };
      found.push(...(await measure(cluster, costs)));
    }
    return found;
  } finally {
    await cluster.close();
  }
}

/** Makes images that finished long ago, by writing their status as the functions would have left it. */
async function makeFinished(cluster: BenchCluster, from: number, count: number): Promise<number> {
  const one = async (index: number) => {
    const name = `finished-${String(index).padStart(4, '0')}`;
    const image = await cluster.createImage(name, { finalizers: [diskImageFinalizer] });
    await cluster.kube.patch(
      VMDiskImage,
      referenceOf(image),
      { status: finishedStatus(image) },
      { subresource: 'status' },
    );
  };
  await Promise.all(Array.from({ length: count }, (_, offset) => one(from + offset)));
  return count;
}

function finishedStatus(image: VMDiskImage) {
  const message = 'Ready to clone from its snapshot.';
  const lastTransitionTime = image.metadata.creationTimestamp;
  return {
    phase: 'Succeeded',
    message,
    revision: 1,
    attempt: 1,
    attempts: 1,
    contentDigest: contentDigest(image),
    queuedAt: lastTransitionTime.replace('Z', '.000001Z'),
    snapshot: { name: snapshotName(image.metadata, 1), revision: 1 },
    conditions: [{ type: 'Ready', status: 'True', reason: 'SnapshotReady', message, lastTransitionTime }],
  };
}

const finishedName = (index: number) => `finished-${String(index).padStart(5, '0')}`;

const changeOf = (name: string) => ({
  type: 'dev.knative.apiserver.ref.update',
  apiversion: VMDiskImage.apiVersion,
  kind: VMDiskImage.kind,
  namespace: benchNamespace,
  name,
});
