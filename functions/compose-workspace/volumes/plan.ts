import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import type { WorkspaceSpec, WorkspaceVolume } from '../../../shared/kinds/pelotech/workspace.ts';
import { bytesOf } from '../../../shared/kubernetes/quantity.ts';
import type { Policy } from '../../../shared/policy.ts';
import { type Child, type Make, named } from '../child.ts';
import type { Inside } from '../observed.ts';
import { isHalted, isSkipped } from '../skipped.ts';
import { failed, type Part, provisioning, ready, type Stage, type Standing, stageOf, standingOf } from '../stage.ts';

/** The claims of the volumes. */
export function volumeStage(spec: WorkspaceSpec, claims: Inside['claims'], policy: Policy, make: Make): Stage {
  const parts = (spec.volumes ?? []).map((volume): Part => {
    const found = named(claims, volume.name);
    const made = make(claimChild(volume, found), found);
    const standing = standingOf([made]) ?? standingOfClaim(volume, found, isMounted(spec, policy, volume.name));
    return { name: volume.name, writes: made.writes, standing };
  });
  return stageOf('VolumesReady', 'Volume', parts);
}

/** A claim that exists keeps its class and mode, which never change, never becomes smaller, and grows once it is bound. */
function claimChild({ name, size, storageClass }: WorkspaceVolume, found: PersistentVolumeClaim | undefined): Child {
  const before = requestOf(found);
  const isFixed = before !== undefined && (isLarger(before, size) || found?.status?.phase !== 'Bound');
  const storage = isFixed ? before : size;
  const resources = { requests: { storage } };
  return {
    resource: PersistentVolumeClaim,
    name,
    fields: {
      spec: found
        ? { resources }
        : { accessModes: ['ReadWriteOnce'], ...(storageClass ? { storageClassName: storageClass } : {}), resources },
    },
    wanted: { size, storageClass },
    isShared: true,
  };
}

const requestOf = (claim: PersistentVolumeClaim | undefined) => claim?.spec?.resources?.requests?.storage;

const isLarger = (one: string, other: string) => (bytesOf(one) ?? 0) > (bytesOf(other) ?? 0);

function standingOfClaim(
  volume: WorkspaceVolume,
  claim: PersistentVolumeClaim | undefined,
  hasUser: boolean,
): Standing {
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
const pending = (claim: PersistentVolumeClaim | undefined): Standing =>
  claim?.spec?.storageClassName === undefined
    ? provisioning(
        'NoStorageClass',
        "Expected a StorageClass for the claim, found none named and none that is the cluster's default; name one in storageClass.",
      )
    : provisioning(
        'ClaimPending',
        `The claim is not bound yet; StorageClass ${claim.spec.storageClassName} makes its volume.`,
      );

const isMounted = ({ containerClusters = [] }: WorkspaceSpec, policy: Policy, name: string) =>
  containerClusters
    .filter((cluster) => !isSkipped(cluster, policy) && !isHalted(cluster, policy))
    .flatMap(({ containers }) => containers)
    .some(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === name));
