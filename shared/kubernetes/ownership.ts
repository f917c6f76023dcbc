import { imageUidLabel, managedBy, revisionLabel, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../kinds/resource.ts';

/** The owner reference of an object that is deleted with this one; it does not block the owner's deletion. */
export const controlledBy = (
  { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>,
  { metadata: { name, uid } }: KubernetesObject,
) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: false,
});

/**
 * The metadata of an object made for a revision of an image. The labels identify it. A snapshot has no owner besides: a foreground
 * deletion would delete it while machines still use the image. prune deletes it in any case.
 */
export const childMetadata = (image: VMDiskImage, name: string, revision: number) => ({
  name,
  namespace: image.metadata.namespace,
  labels: { ...managedBy, [imageUidLabel]: image.metadata.uid, [revisionLabel]: String(revision) },
});
