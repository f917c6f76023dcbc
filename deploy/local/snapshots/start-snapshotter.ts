import { type KubernetesObject, keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Clock } from '../clock.ts';
import { type Informer, startInformer } from '../controller/informer.ts';
import { Claim, StorageClass } from '../controller/kinds.ts';
import { learning, type Running, runControllers } from '../controller/run-controllers.ts';
import { startWorkQueue } from '../controller/work-queue.ts';
import { writer } from '../controller/write.ts';
import { contentSidecar } from './content-sidecar.ts';
import type { SnapshotFaultRule } from './faults.ts';
import { snapshotAnnotation, VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from './kinds.ts';
import { snapshotController } from './snapshot-controller.ts';
import type { World } from './world.ts';

export interface SnapshotterOptions {
  kube: Kube;
  clock: Clock;
  /** Until the driver has cut a snapshot. */
  cutMs: number;
  /** From then until its copy is complete and it can be used. */
  readyMs: number;
  /** Until the controller makes the content. */
  contentMs?: number;
  faults?: readonly SnapshotFaultRule[];
  /** The drivers that have a sidecar here. */
  drivers?: readonly string[];
  /** First and longest pause between two tries, doubled in between; by default those of the real one. */
  retry?: { firstMs: number; maxMs: number };
  /** Hears of every failure that is going to be tried again. */
  onError?: (error: unknown, ref: ObjectReference) => void;
}

/** Simulates the external-snapshotter: the controller of VolumeSnapshots and the sidecar of the drivers that cut them. */
export function startSnapshotter(options: SnapshotterOptions): Running {
  const { kube, clock, contentMs = 50, faults = [], drivers = ['ebs.csi.aws.com'] } = options;
  const abort = new AbortController();
  const world: World = {
    snapshots: startInformer(kube, VolumeSnapshot, abort.signal),
    contents: startInformer(kube, VolumeSnapshotContent, abort.signal),
    classes: startInformer(kube, VolumeSnapshotClass, abort.signal),
    claims: startInformer(kube, Claim, abort.signal),
    storageClasses: startInformer(kube, StorageClass, abort.signal),
  };
  const informers = Object.values(world) as Informer<KubernetesObject>[];
  const out = writer(kube, clock, 'snapshot-controller', learning(informers));
  const { onError, retry = { firstMs: 1000, maxMs: 300_000 } } = options;
  const reconcileSnapshot = snapshotController({ kube, clock, contentMs }, world, out);
  const reconcileContent = contentSidecar({ ...options, faults, drivers }, world, out);
  const snapshotQueue = startWorkQueue({ clock, retry, onError, reconcile: reconcileSnapshot });
  const contentQueue = startWorkQueue({ clock, retry, onError, reconcile: reconcileContent });

  const snapshotChanged = changes();
  world.snapshots.onChange((snapshot) => {
    if (snapshotChanged(snapshot)) snapshotQueue.add(snapshot.metadata);
  });
  const contentChanged = changes();
  world.contents.onChange((content) => {
    if (contentChanged(content)) contentQueue.add(content.metadata);
    snapshotQueue.add(content.spec.volumeSnapshotRef);
  });
  return runControllers({ abort, informers, queues: [snapshotQueue, contentQueue], out });
}

/** Tells whether an object changed by others' hands: a failed look must not be woken by what it wrote itself. */
function changes() {
  const seen = new Map<string, string>();
  return ({ metadata }: KubernetesObject) => {
    const { uid, generation, deletionTimestamp, labels, annotations = {} } = metadata;
    const { [snapshotAnnotation.beingCreated]: _, ...others } = annotations;
    const now = JSON.stringify([uid, generation, deletionTimestamp, labels, others]);
    const isNew = seen.get(keyOf(metadata)) !== now;
    seen.set(keyOf(metadata), now);
    return isNew || deletionTimestamp !== undefined;
  };
}
