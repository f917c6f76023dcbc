import { dataVolumeName, imageChildMetadata } from '../../../shared/images/children.ts';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { attemptLabel, contentAnnotation, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { controlledBy } from '../../../shared/kubernetes/ownership.ts';
import type { Donor } from './donors.ts';

/**
 * The DataVolume of one attempt. CDI: the `storage` stanza takes access and volume mode from the StorageProfile, and the
 * annotation starts an import whose class waits for a first consumer.
 * A clone asks for no size, so that it gets that of its snapshot: to another, CDI would add the overhead of a file system once more. CDI from
 * 1.57 to 1.66 admits that (pkg/apiserver/webhooks/datavolume-validate.go, pkg/controller/datavolume/snapshot-clone-controller.go: detectCloneSize).
 */
export function dataVolumeFor(image: VMDiskImage, revision: number, attempt: number, sharedFrom?: Donor | null) {
  const { spec } = image;
  const metadata = imageChildMetadata(image, dataVolumeName(image.metadata, revision, attempt), revision);
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
    spec: sharedFrom
      ? {
          source: { snapshot: { namespace: image.metadata.namespace, name: sharedFrom.snapshot } },
          storage: { storageClassName: spec.storageClass },
        }
      : {
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
