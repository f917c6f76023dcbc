import { loadFunctions } from '../../knative/functions.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type BenchCluster, benchNamespace, startBenchCluster } from './bench-cluster.ts';
import { accountOf } from './calls.ts';
import { finishedName, makeFinished } from './finished-images.ts';

/** What one reconcile cost one function beside this many finished images. */
export interface ReconcileCost {
  /** What woke it. */
  batch: string;
  function: string;
  finished: number;
  reads: number;
  writes: number;
}

export const nothingToDo = 'sweep, nothing to do';
const finishedChanged = 'event about a finished image';
export const audit = 'audit, nothing to do';

/** Measures a reconcile of each function for each number of finished images; the numbers must rise. */
export async function measureReconciles(finishedCounts: readonly number[]): Promise<ReconcileCost[]> {
  return [...(await idleReconciles(finishedCounts)), ...(await busyReconciles(finishedCounts))];
}

const idleReconciles = (finishedCounts: readonly number[]) =>
  withFinished(finishedCounts, async (cluster, costs, finished) => [
    ...(await costs(nothingToDo, () => cluster.tick('sweep'))),
    ...(finished > 0 ? await costs(finishedChanged, () => cluster.post(changeOf(finishedName(0)))) : []),
    ...(await costs(audit, () => cluster.tick('audit'))),
  ]);

/** With two images that sync for ever and three behind them. */
async function busyReconciles(finishedCounts: readonly number[]): Promise<ReconcileCost[]> {
  const begin = async (cluster: BenchCluster) => {
    await cluster.setConcurrency(2);
    for (let index = 0; index < 5; index++) await cluster.createImage(`waiting-${index}`);
  };
  const measure = async (cluster: BenchCluster, costs: Measure) => [
    ...(await costs('sweep, 2 sync and 3 wait', () => cluster.tick('sweep'))),
    ...(await costs('event, 2 sync and 3 wait', () => cluster.post(changeOf('waiting-0')))),
  ];
  return withFinished(finishedCounts, measure, begin);
}

type Measure = (batch: string, run: () => Promise<void>) => Promise<ReconcileCost[]>;

async function withFinished(
  finishedCounts: readonly number[],
  measure: (cluster: BenchCluster, costs: Measure, finished: number) => Promise<ReconcileCost[]>,
  begin: (cluster: BenchCluster) => Promise<void> = async () => {},
): Promise<ReconcileCost[]> {
  const functions = (await loadFunctions()).map(({ name }) => name);
  let asked: { method: string; user: string }[] = [];
  const cluster = await startBenchCluster({ intercept: (request) => void asked.push(request) });
  try {
    // Only what the bench posts wakes anybody, and that alone is counted.
    cluster.muteSources();
    await begin(cluster);
    // The first reconciles make the Lease and start what can start; Kubernetes Events about that come a moment later.
    for (let sweeps = 0; sweeps < 2 || asked.some(({ method }) => method !== 'GET'); sweeps++) {
      asked = [];
      await cluster.tick('sweep');
    }
    const found: ReconcileCost[] = [];
    let made = 0;
    for (const finished of finishedCounts) {
      await makeFinished(cluster, made, finished);
      made = Math.max(made, finished);
      const costs: Measure = async (batch, run) => {
        asked = [];
        await run();
        return functions.map((name) => {
          const own = asked.filter(({ user }) => user === accountOf(name));
          const reads = own.filter(({ method }) => method === 'GET').length;
          return { batch, function: name, finished, reads, writes: own.length - reads };
        });
      };
      found.push(...(await measure(cluster, costs, finished)));
    }
    return found;
  } finally {
    await cluster.close();
  }
}

const changeOf = (name: string) => ({
  type: 'dev.knative.apiserver.ref.update',
  apiversion: VMDiskImage.apiVersion,
  kind: VMDiskImage.kind,
  namespace: benchNamespace,
  name,
});
