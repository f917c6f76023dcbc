import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import type { Faults } from './faults.ts';
import { type Hands, shelves } from './hands.ts';
import type { SnapshotFault } from './plan.ts';

const protection = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection';

/** Later than the policy's snapshotTimeout. */
const readyAfterMs: Partial<Record<SnapshotFault, number>> = { error: 10_000, late: 120_000 };

/** Plays the snapshotter (cdi-kubevirt reference, §7.6): bound, then ready, and every way in which that goes wrong. */
export function playSnapshotter(hands: Hands, faults: Faults) {
  return ({ type, resource, object }: StoreEvent) => {
    if (resource !== shelves.snapshots) return;
    const { namespace, name, uid, deletionTimestamp } = object.metadata;
    const ref = { namespace, name, uid };
    if (type === 'MODIFIED' && deletionTimestamp)
      hands.soon(() => hands.removeFinalizer(shelves.snapshots, ref, protection));
    if (type !== 'ADDED') return;
    const how = faults.at(faults.count('snapshot'), 'snapshot')?.how;
    const say = (status: object) => hands.status(shelves.snapshots, ref, status);
    const ready = () => say({ readyToUse: true, restoreSize: '64Mi', error: undefined });
    hands.soon(() => {
      hands.change(shelves.snapshots, ref, (snapshot) => {
        if (snapshot.metadata.deletionTimestamp) return snapshot;
        const metadata = { ...snapshot.metadata, finalizers: [protection] };
        return {
          ...snapshot,
          metadata,
          status: { readyToUse: false, boundVolumeSnapshotContentName: `content-${uid}` },
        };
      });
      if (how === 'never') return;
      if (how === 'error') hands.soon(() => say({ error: { message: 'rate limited' } }));
      hands.soon(ready, (how && readyAfterMs[how]) ?? 1000);
      if (how === 'unready') {
        hands.soon(() => say({ readyToUse: false }), 3000);
        hands.soon(ready, 30_000);
      }
      if (how === 'deleted') hands.soon(() => hands.delete(shelves.snapshots, ref), 3000);
      if (how === 'contentMissing')
        hands.soon(() => say({ readyToUse: false, error: { message: 'VolumeSnapshotContent is missing' } }), 3000);
    });
  };
}
