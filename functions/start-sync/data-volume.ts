import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import {
  attemptLabel,
  imageUidLabel,
  managedBy,
  revisionLabel,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import { dataVolumeName } from '../../shared/rules/names.ts';

/**
 * The DataVolume of one attempt. CDI: the `storage` stanza takes access and volume mode from the StorageProfile, and the
 * annotation starts an import whose class waits for a first consumer.
 */
export function dataVolumeFor(image: VMDiskImage, revision: number, attempt: number) {
  const { spec, metadata } = image;
  return {
    apiVersion: DataVolume.apiVersion,
    kind: DataVolume.kind,
    metadata: {
      name: dataVolumeName(metadata, revision, attempt),
      namespace: metadata.namespace,
      labels: {
        ...managedBy,
        [imageUidLabel]: metadata.uid,
        [revisionLabel]: String(revision),
        [attemptLabel]: String(attempt),
      },
      annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
      ownerReferences: [
        {
          apiVersion: VMDiskImageKind.apiVersion,
          kind: VMDiskImageKind.kind,
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    },
    spec: {
      source: { [spec.sourceType]: sourceOf(spec) },
      storage: { storageClassName: spec.storageClass, resources: { requests: { storage: spec.diskSize } } },
    },
  };
}

const sourceOf = ({ url, secretRef, certConfigMap, checksum }: VMDiskImage['spec']) => ({
  url,
  ...(secretRef ? { secretRef } : {}),
  ...(certConfigMap ? { certConfigMap } : {}),
  ...(checksum ? { checksum } : {}),
});
