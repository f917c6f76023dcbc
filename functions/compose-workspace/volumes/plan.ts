import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import type { WorkspaceVolume } from '../../../shared/kinds/pelotech/workspace.ts';
import { bytesOf } from '../../../shared/kubernetes/quantity.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { type Child, make } from '../child.ts';
import type { Observed } from '../observed.ts';
import { isHalted, isSkipped } from '../skipped.ts';
import { component, failed, provisioning, ready, type Stage, type Standing, standingOf } from '../stage.ts';

/** The claims of the volumes. */
export function volumeStage(observed: Observed): Stage {
  const looks = (observed.workspace.spec.volumes ?? []).map((volume) => {
    const found = observed.inside?.claims.find(({ metadata }) => metadata.name === volume.name);
    const made = make(observed, claimChild(observed, volume, found), found);
    const standing = standingOf([made]) ?? standingOfClaim(observed, volume, found);
    return { writes: made.writes, component: component('Volume', volume.name, standing) };
  });
  return {
    condition: 'VolumesReady',
    writes: looks.flatMap(({ writes }) => writes),
    components: looks.map((look) => look.component),
  };
}

/** A claim that is there keeps its class and mode, which never change, never becomes smaller, and grows once it is bound. */
function claimChild(
  { workspace }: Observed,
  { name, size, storageClass }: WorkspaceVolume,
  found: PersistentVolumeClaim | undefined,
): Child {
  const before = requestOf(found);
  const isFixed = before !== undefined && (isLarger(before, size) || found?.status?.phase !== 'Bound');
  const storage = isFixed ? before : size;
  const resources = { requests: { storage } };
  return {
    resource: PersistentVolumeClaim,
    ref: { namespace: namespaceOf(workspace.metadata.name), name },
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
  observed: Observed,
  volume: WorkspaceVolume,
  claim: PersistentVolumeClaim | undefined,
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
      `Expected StorageClass ${storageClassName}, found ${volume.storageClass}: a claim keeps its class; delete the claim to have it made anew, without its data.`,
    );
  }
  if (phase === 'Bound') return ready('Bound', 'The claim is bound.');
  if (has !== undefined && isLarger(volume.size, has) && !isMounted(observed, volume)) {
    return ready(
      'GrowsWhenBound',
      `It asks for ${has}, and for ${volume.size} once something mounts it: Kubernetes lets no claim grow before it is bound.`,
    );
  }
  // Most StorageClasses make a volume when the first Pod that mounts it starts.
  return isMounted(observed, volume)
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

const isMounted = ({ workspace, policy }: Observed, { name }: WorkspaceVolume) =>
  (workspace.spec.containerClusters ?? [])
    .filter((cluster) => !isSkipped(cluster, policy) && !isHalted(cluster, policy))
    .flatMap(({ containers }) => containers)
    .some(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === name));
