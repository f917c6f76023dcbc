import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import type { WorkspaceSpec, WorkspaceVolume } from '../../../shared/kinds/pelotech/workspace.ts';
import { isLarger } from '../../../shared/kubernetes/quantity.ts';
import type { Policy } from '../../../shared/policy.ts';
import { type Child, type Make, named } from '../child.ts';
import type { Inside } from '../observed.ts';
import { isHalted, isSkipped } from '../skipped.ts';
import { type PlannedComponent, type Stage, stageOf, statusOf } from '../stage.ts';
import { requestOf, statusOfClaim } from './status.ts';

export function volumeStage(spec: WorkspaceSpec, claims: Inside['claims'], policy: Policy, make: Make): Stage {
  const components = (spec.volumes ?? []).map((volume): PlannedComponent => {
    const found = named(claims, volume.name);
    const made = make(claimChild(volume, found), found);
    const status = statusOf([made]) ?? statusOfClaim(volume, found, isMounted(spec, policy, volume.name));
    return { name: volume.name, writes: made.writes, status };
  });
  return stageOf('VolumesReady', 'Volume', components);
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

const isMounted = ({ containerClusters = [] }: WorkspaceSpec, policy: Policy, name: string) =>
  containerClusters
    .filter((cluster) => !isSkipped(cluster, policy) && !isHalted(cluster, policy))
    .flatMap(({ containers }) => containers)
    .some(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === name));
