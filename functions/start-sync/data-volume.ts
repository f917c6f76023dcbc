import { contentDigest } from '../../shared/images/content-digest.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { attemptLabel, contentAnnotation, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { dataVolumeName } from '../../shared/kubernetes/names.ts';
import { childMetadata, controlledBy } from '../../shared/kubernetes/ownership.ts';

/**
 * The DataVolume of one attempt. CDI: the `storage` stanza takes access and volume mode from the StorageProfile, and the
 * annotation starts an import whose class waits for a first consumer.
 */
export function dataVolumeFor(image: VMDiskImage, revision: number, attempt: number) {
  const { spec } = image;
  const metadata = childMetadata(image, dataVolumeName(image.metadata, revision, attempt), revision);
  return {
    apiVersion: DataVolume.apiVersion,
    kind: DataVolume.kind,
    metadata: {
      ...metadata,
      ownerReferences: [controlledBy(VMDiskImage, image)],
      labels: { ...metadata.labels, [attemptLabel]: String(attempt) },
      annotations: {
        'cdi.kubevirt.io/storage.bind.immediate.requested': 'true',
        [contentAnnotation]: contentDigest(image),
      },
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
