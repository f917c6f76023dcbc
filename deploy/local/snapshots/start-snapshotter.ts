import { type KubernetesObject, keyOf } from '../../../shared/kinds/resource.ts';
import { type Running, type SimulatorOptions, simulator } from '../controller/simulator.ts';
import { contentSidecar } from './content-sidecar.ts';
import type { SnapshotFaultRule } from './faults.ts';
import { snapshotAnnotation } from './kinds.ts';
import { snapshotController } from './snapshot-controller.ts';
import { watched } from './world.ts';

export interface SnapshotterOptions extends SimulatorOptions {
  /** Until the driver has cut a snapshot. */
  cutMs: number;
  /** From then until its copy is complete and it can be used. */
  readyMs: number;
  /** Until the controller makes the content. */
  contentMs?: number;
  faults?: readonly SnapshotFaultRule[];
  /** The drivers that have a sidecar here. */
  drivers?: readonly string[];
}

/** Simulates the external-snapshotter: the controller of VolumeSnapshots and the sidecar of the drivers that cut them. */
export function startSnapshotter(options: SnapshotterOptions): Running {
  const {
    contentMs = 50,
    faults = [],
    drivers = ['ebs.csi.aws.com'],
    retry = { firstMs: 1000, maxMs: 300_000 },
  } = options;
  const { shared, queue, run } = simulator({ ...options, retry }, 'snapshot-controller', watched);
  const snapshotQueue = queue(snapshotController(shared, contentMs));
  const contentQueue = queue(contentSidecar(shared, { ...options, faults, drivers }));

  const snapshotChanged = changes();
  shared.snapshots.onChange((snapshot) => {
    if (snapshotChanged(snapshot)) snapshotQueue.add(snapshot.metadata);
  });
  const contentChanged = changes();
  shared.contents.onChange((content) => {
    if (contentChanged(content)) contentQueue.add(content.metadata);
    snapshotQueue.add(content.spec.volumeSnapshotRef);
  });
  return run();
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
