import { setTimeout as sleep } from 'node:timers/promises';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { managedBy } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, type Resource, referenceOf } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { labelSelector } from '../../shared/kubernetes/selectors.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';

/** What finishes imports and snapshots in place of CDI and the snapshotter. */
export interface StandIn {
  stop(): Promise<void>;
}

export interface StandInTimes {
  /** How long the nth import takes, from 0. */
  importMs(nth: number): number;
  snapshotMs: number;
}

/**
 * Finishes every DataVolume and VolumeSnapshot of ours with one status write, so that what is measured is the functions
 * and not the some sixty writes that CDI and the snapshotter make for one image.
 */
export async function startStandIn(kube: Kube, { importMs, snapshotMs }: StandInTimes): Promise<StandIn> {
  const abort = new AbortController();
  const { signal } = abort;
  const work = new Set<Promise<void>>();
  const finish = async (resource: Resource, object: KubernetesObject, afterMs: number, status: object) => {
    try {
      await sleep(afterMs, undefined, { signal });
      await kube.patch(resource, referenceOf(object), { status }, { subresource: 'status' });
    } catch (error) {
      // Deleted before its time, or the end of the run.
      if (!hasStatus(error, 404) && !signal.aborted) throw error;
    }
  };
  const follow = async (resource: Resource, msOf: (nth: number) => number, statusOf: (name: string) => object) => {
    const options = { labelSelector: labelSelector(managedBy) };
    const [page] = await Array.fromAsync(kube.pages(resource, options));
    let nth = 0;
    const watching = { ...options, resourceVersion: page?.resourceVersion ?? '', signal };
    const done = kube.watch(resource, watching, ({ type, object }) => {
      if (type !== 'ADDED') return;
      const one = finish(resource, object, msOf(nth++), statusOf(object.metadata.name)).finally(() => work.delete(one));
      work.add(one);
    });
    return { done };
  };
  const watches = [
    await follow(DataVolume, importMs, imported),
    await follow(
      VolumeSnapshot,
      () => snapshotMs,
      () => ({ readyToUse: true, restoreSize: '64Mi' }),
    ),
  ];
  return {
    async stop() {
      abort.abort();
      await Promise.all([...work, ...watches.map(({ done }) => done)]);
    },
  };
}

/** CDI writes these two conditions, Bound among them, before a snapshot may be cut. */
const imported = (name: string) => ({
  phase: 'Succeeded',
  progress: '100.0%',
  claimName: name,
  conditions: [
    { type: 'Bound', status: 'True' },
    { type: 'Running', status: 'False', reason: 'Completed' },
  ],
});
