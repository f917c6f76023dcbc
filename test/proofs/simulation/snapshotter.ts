import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import type { Faults } from './faults.ts';
import type { SnapshotFault } from './plan.ts';
import { type StoreWriter, storeKeys } from './store-writer.ts';

const protection = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection';

/** Later than the policy's snapshotTimeout. */
const readyAfterMs: Partial<Record<SnapshotFault, number>> = { error: 10_000, late: 120_000 };

/** Simulates the snapshotter: bound, then ready, and every failure of that. */
export function simulateSnapshotter(writer: StoreWriter, faults: Faults) {
  return ({ type, resource, object }: StoreEvent) => {
    if (resource !== storeKeys.snapshots) return;
    const { namespace, name, uid, deletionTimestamp } = object.metadata;
    const ref = { namespace, name, uid };
    if (type === 'MODIFIED' && deletionTimestamp)
      writer.schedule(() => writer.removeFinalizer(storeKeys.snapshots, ref, protection));
    if (type !== 'ADDED') return;
    const how = faults.at(faults.count('snapshot'), 'snapshot')?.how;
    const say = (status: object) => writer.patchStatus(storeKeys.snapshots, ref, status);
    const ready = () => say({ readyToUse: true, restoreSize: '64Mi', error: undefined });
    writer.schedule(() => {
      writer.change(storeKeys.snapshots, ref, (snapshot) => {
        if (snapshot.metadata.deletionTimestamp) return snapshot;
        const metadata = { ...snapshot.metadata, finalizers: [protection] };
        return {
          ...snapshot,
          metadata,
          status: { readyToUse: false, boundVolumeSnapshotContentName: `content-${uid}` },
        };
      });
      if (how === 'never') return;
      if (how === 'error') writer.schedule(() => say({ error: { message: 'rate limited' } }));
      writer.schedule(ready, (how && readyAfterMs[how]) ?? 1000);
      if (how === 'unready') {
        writer.schedule(() => say({ readyToUse: false }), 3000);
        writer.schedule(ready, 30_000);
      }
      if (how === 'deleted') writer.schedule(() => writer.delete(storeKeys.snapshots, ref), 3000);
      if (how === 'contentMissing')
        writer.schedule(() => say({ readyToUse: false, error: { message: 'VolumeSnapshotContent is missing' } }), 3000);
    });
  };
}
