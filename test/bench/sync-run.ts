import { loadFunctions } from '../../knative/functions.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import type { Kube, WatchEvent } from '../../shared/runtime/kube.ts';
import { countReached } from '../stories/count-reached.ts';
import { baselineOn } from './baseline.ts';
import { type BenchCluster, startBenchCluster } from './bench-cluster.ts';
import { type Calls, callsOf } from './calls.ts';
import { ProgressWrites } from './progress-writes.ts';
import { SlotTimes } from './slot-times.ts';
import { startStandIn } from './stand-in.ts';

/** What syncing a whole queue took. */
export interface SyncRun {
  images: number;
  /** From the slot that comes free to the next DataVolume, in milliseconds. */
  handOversMs: number[];
  /** The bare GET + PUT + POST on the same API server, in between. */
  baselineMs: number[];
  /** The same just before, while nothing else happened. */
  quietBaselineMs: number[];
  /** All that the functions asked of the API server for these images. */
  calls: Calls[];
  /** Status writes that changed only the progress. */
  progressWrites: number;
  tookMs: number;
}

const slots = 4;
/** Imports end at moments of their own, as real ones do, and leave the machine time to breathe in between. */
const importMs = (nth: number) => 300 + ((nth * 73) % 200);
const snapshotMs = 50;
const baselineEveryMs = 100;
const quietSamples = 50;

/** Queues this many images while syncs are paused, then lets them through; the clean-up after them is part of it. */
export async function runSyncs(images: number): Promise<SyncRun> {
  const cluster = await startBenchCluster();
  try {
    return await measured(cluster, images);
  } finally {
    await cluster.close();
  }
}

async function measured(cluster: BenchCluster, images: number): Promise<SyncRun> {
  const { kube } = cluster;
  const functions = (await loadFunctions()).map(({ name }) => name);
  const times = new SlotTimes();
  const progress = new ProgressWrites();
  const queued = await countReached(kube, VMDiskImage, ({ status }) => status?.phase === 'Queued');
  const succeeded = await countReached(kube, VMDiskImage, ({ status }) => status?.phase === 'Succeeded');
  const watches = [
    await hear(kube, VMDiskImage, (event) => progress.heardOfImage(event)),
    await hear(kube, DataVolume, (event) => {
      if (event.object.metadata.ownerReferences) times.heardOfDataVolume(event, performance.now());
    }),
  ];
  await cluster.setConcurrency(0);
  // Makes the Lease, which is no image's cost.
  await cluster.tick('sweep');
  cluster.newRequests();
  for (let index = 0; index < images; index++) await cluster.createImage(`image-${String(index).padStart(5, '0')}`);
  await queued.until(images);
  const standIn = await startStandIn(kube, { importMs, snapshotMs });
  const bare = await baselineOn(kube);
  await cluster.settled();
  const quietBaselineMs = await bare.measure(Math.max(quietSamples, images));
  const baseline = bare.start(baselineEveryMs);
  const startedMs = performance.now();
  await cluster.setConcurrency(slots);
  await succeeded.until(images);
  const tookMs = performance.now() - startedMs;
  const baselineMs = await baseline.stop();
  await cluster.settled();
  const calls = callsOf(cluster.newRequests(), functions);
  await Promise.all([standIn, queued, succeeded, ...watches].map((running) => running.stop()));
  const handOversMs = times.handOvers(slots);
  return { images, handOversMs, baselineMs, quietBaselineMs, calls, progressWrites: progress.count, tookMs };
}

/** Calls `onEvent` for what happens to the objects of a kind from now on. */
async function hear<T extends KubernetesObject>(
  kube: Kube,
  resource: Resource<T>,
  onEvent: (event: WatchEvent<T>) => void,
) {
  const abort = new AbortController();
  const [page] = await Array.fromAsync(kube.pages(resource));
  const options = { resourceVersion: page?.resourceVersion ?? '', signal: abort.signal };
  const done = kube.watch(resource, options, onEvent);
  return {
    stop: async () => {
      abort.abort();
      await done;
    },
  };
}
