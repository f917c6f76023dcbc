import {
  imageUidLabel,
  managedBy,
  revisionLabel,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
} from '../resources/pelotech/vm-disk-image.ts';

/** The metadata of what is made for a revision of an image: it belongs to the image, and is found by its labels. */
export const childMetadata = ({ metadata }: VMDiskImage, name: string, revision: number) => ({
  name,
  namespace: metadata.namespace,
  labels: { ...managedBy, [imageUidLabel]: metadata.uid, [revisionLabel]: String(revision) },
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
});
