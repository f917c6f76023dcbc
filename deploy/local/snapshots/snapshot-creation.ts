import { keyOf } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { volumeHandleOf } from '../cdi/volume.ts';
import { Claim } from '../controller/kinds.ts';
import { withFinalizer } from '../controller/write.ts';
import { contentName, finalizer, type VolumeSnapshot, VolumeSnapshotContent } from './kinds.ts';
import { failing, type ObservedSnapshot, type SnapshotStep, says, unbound } from './snapshot-observed.ts';

/** The steps to a content: the claim is held first, then the content is made, if the claim is bound. */
export function creation(observed: ObservedSnapshot): SnapshotStep {
  const { snapshot, claim, snapshotClass, nowMs } = observed;
  const { name } = snapshot.metadata;
  const refused = (cause: string) => {
    const message = `Failed to create snapshot content with error ${cause}`;
    return failing(snapshot, 'SnapshotContentCreationFailed', message, nowMs, { readyToUse: false });
  };
  const failsToUpdate = `snapshot controller failed to update ${name} on API server`;
  if (!claim || !snapshotClass) return refused(`${failsToUpdate}: cannot get claim from snapshot`);
  if (!claim.metadata.finalizers?.includes(finalizer.claim)) {
    const isGoing = claim.metadata.deletionTimestamp !== undefined;
    if (isGoing) return refused(`${failsToUpdate}: cannot add finalizer on claim because it is being deleted`);
    return { writes: [withFinalizer(Claim, claim, finalizer.claim)] };
  }
  const why = unbound(claim);
  if (why) return refused(`failed to get input parameters to create snapshot ${name}: "${why}"`);
  const waiting = `Waiting for a snapshot ${keyOf(snapshot.metadata)} to be created by the CSI driver.`;
  return {
    writes: [
      { do: 'create', resource: VolumeSnapshotContent, object: contentFor(snapshot, snapshotClass, claim) },
      says(snapshot, 'Normal', 'CreatingSnapshot', waiting),
    ],
  };
}

function contentFor(snapshot: VolumeSnapshot, snapshotClass: VolumeSnapshotClass, claim: Claim) {
  const { namespace, name, uid, resourceVersion } = snapshot.metadata;
  return {
    metadata: { name: contentName(snapshot), finalizers: [finalizer.content] },
    spec: {
      deletionPolicy: snapshotClass.deletionPolicy,
      driver: snapshotClass.driver,
      source: { volumeHandle: volumeHandleOf(claim.spec.volumeName ?? '') },
      sourceVolumeMode: claim.spec.volumeMode ?? 'Filesystem',
      volumeSnapshotClassName: snapshotClass.metadata.name,
      volumeSnapshotRef: {
        apiVersion: snapshot.apiVersion,
        kind: snapshot.kind,
        namespace,
        name,
        uid,
        resourceVersion,
      },
    },
  };
}
