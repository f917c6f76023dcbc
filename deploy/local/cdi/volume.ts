import { join } from 'node:path';
import { workspaceIn } from '../../../shared/workspaces/workspace.ts';
import { Claim, PersistentVolume, type StorageClass } from '../controller/kinds.ts';
import { bytesOf, quantityOf } from '../controller/quantity.ts';
import { patchOf, statusOf, type Write } from '../controller/write.ts';
import type { CdiVariants } from './settings.ts';

/** What the driver writes when a claim gets a volume of its own, and the volume controller where the cluster has none. */
export function provisioned(claim: Claim, storageClass: StorageClass, variants: CdiVariants = {}): Write[] {
  const name = `pvc-${claim.metadata.uid}`;
  return [
    { do: 'create', resource: PersistentVolume, object: volumeFor(name, claim, storageClass, variants) },
    ...(variants.clusterBinds ? [] : boundTo(claim, name)),
  ];
}

/** What Kubernetes writes when a claim is bound to a volume. */
function boundTo(claim: Claim, volumeName: string): Write[] {
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };
  const { accessModes, resources } = claim.spec;
  const bound = { phase: 'Bound', accessModes, capacity: { storage: capacityFor(resources?.requests?.storage) } };
  return [patchOf(Claim, claim, { metadata: { annotations }, spec: { volumeName } }), statusOf(Claim, claim, bound)];
}

/** Moves a volume from one claim to another; Kubernetes' own controller binds it there, where there is one. */
export function rebound(target: Claim, from: Claim, clusterBinds: boolean): Write[] {
  const { volumeName } = from.spec;
  if (!volumeName) return [];
  const { namespace, name, uid } = target.metadata;
  const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion: null };
  return [
    { do: 'patch', resource: PersistentVolume, ref: { name: volumeName }, patch: { spec: { claimRef } } },
    ...(clusterBinds ? [] : boundTo(target, volumeName)),
  ];
}

/** What the driver's resizer writes when a claim has asked for more than its volume has. */
export const grown = (claim: Claim, storage: string): Write[] => [
  {
    do: 'patch',
    resource: PersistentVolume,
    ref: { name: claim.spec.volumeName ?? '' },
    patch: { spec: { capacity: { storage } } },
  },
  statusOf(Claim, claim, { capacity: { storage } }),
];

/** A claim whose volume is gone, or another's. */
export const lost = (claim: Claim): Write =>
  statusOf(Claim, claim, { phase: 'Lost', capacity: null, accessModes: null });

function volumeFor(
  name: string,
  claim: Claim,
  { provisioner, reclaimPolicy, metadata }: StorageClass,
  { foldersBelow }: CdiVariants,
) {
  const { accessModes, resources, volumeMode = 'Filesystem' } = claim.spec;
  const { namespace, name: claimName, uid } = claim.metadata;
  const isFolder = foldersBelow !== undefined && volumeMode === 'Filesystem' && workspaceIn(namespace) !== undefined;
  return {
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
    spec: {
      capacity: { storage: capacityFor(resources?.requests?.storage) },
      accessModes,
      volumeMode,
      storageClassName: metadata.name,
      persistentVolumeReclaimPolicy: reclaimPolicy ?? 'Delete',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid },
      ...(isFolder
        ? { hostPath: { path: join(foldersBelow, name), type: 'DirectoryOrCreate' } }
        : { csi: { driver: provisioner, volumeHandle: volumeHandleOf(name) } }),
    },
  };
}

/** A driver creates the requested size, and reports it in its own format. */
const capacityFor = (asked = '0') => quantityOf(bytesOf(asked));

/** What the driver calls the volume of this name. */
export const volumeHandleOf = (volumeName: string) =>
  `vol-${volumeName.replace(/^pvc-/, '').replaceAll('-', '').slice(0, 17)}`;
