import type { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import type { WorkspaceVolume } from '../../../shared/kinds/pelotech/workspace.ts';
import { isLarger } from '../../../shared/kubernetes/quantity.ts';
import { type ComponentStatus, failed, provisioning, ready } from '../stage.ts';

export const requestOf = (claim: PersistentVolumeClaim | undefined) => claim?.spec?.resources?.requests?.storage;

/** The status of a volume whose claim matches its spec; `hasUser` if something that runs mounts it. */
export function statusOfClaim(
  volume: WorkspaceVolume,
  claim: PersistentVolumeClaim | undefined,
  hasUser: boolean,
): ComponentStatus {
  const phase = claim?.status?.phase;
  if (phase === 'Lost') return failed('ClaimLost', 'What the claim was bound to is gone.');
  const has = requestOf(claim);
  if (has !== undefined && isLarger(has, volume.size)) {
    return ready(
      'SizeNotApplied',
      `Expected a size of ${has} or more, found ${volume.size}: a volume never becomes smaller.`,
    );
  }
  const { storageClassName } = claim?.spec ?? {};
  if (volume.storageClass !== undefined && storageClassName !== undefined && volume.storageClass !== storageClassName) {
    return ready(
      'StorageClassNotApplied',
      `Expected StorageClass ${storageClassName}, found ${volume.storageClass}: a claim keeps its class; delete the claim to recreate it, without its data.`,
    );
  }
  if (phase === 'Bound') return ready('Bound', 'The claim is bound.');
  if (has !== undefined && isLarger(volume.size, has) && !hasUser) {
    return ready(
      'GrowsWhenBound',
      `It asks for ${has}, and for ${volume.size} once something mounts it: Kubernetes lets no claim grow before it is bound.`,
    );
  }
  // Most StorageClasses make a volume when the first Pod that mounts it starts.
  return hasUser
    ? pending(claim)
    : ready('Unused', 'Nothing that runs mounts it; the claim is bound when something does.');
}

/** Kubernetes gives the default class to a claim that names none, where there is one. */
const pending = (claim: PersistentVolumeClaim | undefined): ComponentStatus =>
  claim?.spec?.storageClassName === undefined
    ? provisioning(
        'NoStorageClass',
        "Expected a StorageClass for the claim, found none named and none that is the cluster's default; name one in storageClass.",
      )
    : provisioning(
        'ClaimPending',
        `The claim is not bound yet; StorageClass ${claim.spec.storageClassName} makes its volume.`,
      );
