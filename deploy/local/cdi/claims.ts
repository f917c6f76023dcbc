import { type Claim, type ClaimSpec, type DataVolume, Pod, type VolumeImportSource } from '../controller/kinds.ts';
import { ownedBy } from '../controller/owner.ts';
import { bytesOf } from '../controller/quantity.ts';
import { annotation } from './annotation.ts';
import { sourceAnnotations, volumeImportSourceName } from './import-source.ts';
import { withFilesystem } from './storage-profile.ts';

/** CDI's labels on the objects that it creates; they override those of the DataVolume. */
export const cdiLabels = {
  app: 'containerized-data-importer',
  'app.kubernetes.io/component': 'storage',
  'app.kubernetes.io/managed-by': 'cdi-controller',
};

const notBackedUp = { 'velero.io/exclude-from-backup': 'true' };

export const claimProtection = 'kubernetes.io/pvc-protection';

/** A claim that binds at once although its class would wait: the importer is its consumer. */
export const bindsAtOnce = (claim: Claim) => claim.metadata.annotations?.[annotation.immediateBinding] !== undefined;

/** The claim of a DataVolume. With populators it says by reference what fills it, without them by annotations. */
export function targetClaimFor(dataVolume: DataVolume, spec: ClaimSpec, usePopulator: boolean) {
  if (!usePopulator) return ownClaim(dataVolume, spec, sourceAnnotations(dataVolume.spec.source));
  return ownClaim(dataVolume, populatedBy(spec, 'VolumeImportSource', volumeImportSourceName(dataVolume)));
}

/** A claim that says which object of CDI tells what fills it. */
export const populatedBy = (spec: ClaimSpec, kind: string, name: string): ClaimSpec => ({
  ...spec,
  dataSourceRef: { apiGroup: 'cdi.kubevirt.io', kind, name },
});

/** The claim with the name, labels and annotations of a DataVolume, which owns it. */
export function ownClaim(dataVolume: DataVolume, spec: ClaimSpec, also: Record<string, string> = {}) {
  const { name, namespace, labels, annotations, uid } = dataVolume.metadata;
  const { contentType, preallocation, priorityClassName, serviceAccountName } = dataVolume.spec;
  return claim({
    metadata: {
      name,
      namespace,
      labels: {
        ...labels,
        ...cdiLabels,
        // A disk image fills its file system, which needs no alert.
        ...(spec.volumeMode === 'Block' ? {} : { 'alerts.k8s.io/KubePersistentVolumeFillingUp': 'disabled' }),
      },
      annotations: {
        ...annotations,
        [annotation.podRestarts]: '0',
        [annotation.contentType]: contentType || 'kubevirt',
        [annotation.preallocationRequested]: String(preallocation ?? false),
        [annotation.createdForDataVolume]: uid,
        ...(priorityClassName ? { 'cdi.kubevirt.io/storage.pod.priorityclassname': priorityClassName } : {}),
        ...(serviceAccountName ? { 'cdi.kubevirt.io/storage.pod.serviceAccountName': serviceAccountName } : {}),
        ...also,
      },
      finalizers: [claimProtection],
      ownerReferences: [ownedBy(dataVolume)],
    },
    spec,
  });
}

export const primeName = (target: Claim) => `prime-${target.metadata.uid}`;

/** The claim beside the target that the importer writes to; its volume is handed to the target in the end. */
export function primeClaimFor(target: Claim, importSource: VolumeImportSource) {
  const { annotations = {}, namespace } = target.metadata;
  const { accessModes, resources, storageClassName, volumeMode } = target.spec;
  const node = annotations[annotation.selectedNode];
  return claim({
    metadata: {
      name: primeName(target),
      namespace,
      labels: { ...cdiLabels, ...notBackedUp },
      annotations: {
        [annotation.immediateBinding]: '',
        ...(node ? { [annotation.selectedNode]: node } : {}),
        ...keep(annotations, [annotation.retainAfterCompletion, ...passedOn]),
        [annotation.populatorKind]: 'VolumeImportSource',
        [annotation.contentType]: importSource.spec.contentType || 'kubevirt',
        [annotation.preallocationRequested]: annotations[annotation.preallocationRequested] ?? 'false',
        ...sourceAnnotations(importSource.spec.source),
      },
      finalizers: [claimProtection],
      ownerReferences: [ownedBy(target)],
    },
    spec: { accessModes, resources, storageClassName, volumeMode },
  });
}

export const scratchName = (filled: Claim) => `${filled.metadata.name}-scratch`;

/** Scratch space for an image that must be converted; the importer pod owns it. */
export function scratchClaimFor(filled: Claim, pod: Pod) {
  return claim({
    metadata: {
      name: scratchName(filled),
      namespace: filled.metadata.namespace,
      labels: { ...cdiLabels, ...notBackedUp },
      annotations: { [annotation.immediateBinding]: '' },
      finalizers: [claimProtection],
      ownerReferences: [{ ...ownedBy(pod), apiVersion: Pod.apiVersion, kind: Pod.kind }],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      storageClassName: filled.spec.storageClassName,
      resources: { requests: { storage: scratchSize(filled) } },
    },
  });
}

/** The size of the image with the file system overhead, in whole MiB. */
function scratchSize(filled: Claim): string {
  const asked = bytesOf(filled.spec.resources?.requests?.storage ?? '0');
  const needed = filled.spec.volumeMode === 'Block' ? withFilesystem(asked) : asked;
  return String(Math.ceil(needed / mebibyte) * mebibyte);
}

const mebibyte = 1024 ** 2;

/** The only foreign annotations that CDI hands on to its importer pods. */
export const passedOn = [
  'k8s.v1.cni.cncf.io/networks',
  'v1.multus-cni.io/default-network',
  'sidecar.istio.io/inject',
  'linkerd.io/inject',
  'cdi.kubevirt.io/storage.pod.priorityclassname',
  'cdi.kubevirt.io/storage.pod.serviceAccountName',
];

export const keep = (annotations: Record<string, string>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => names.includes(name)));

/** A new claim; a real API server sets its status itself. */
export const claim = <T extends { metadata: { name: string; namespace: string | undefined }; spec: object }>(
  object: T,
) => ({ ...object, status: { phase: 'Pending' } });
