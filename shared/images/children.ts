import { imageUidLabel, managedBy, revisionLabel, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { shortHash } from '../kubernetes/names.ts';

/** What the DataVolume of an attempt is called: a function of (uid, revision, attempt), so that nothing is made twice. */
export const dataVolumeName = (image: { name: string; uid: string }, revision: number, attempt: number) =>
  `${image.name}-${shortHash(image.uid)}-r${revision}-a${attempt}`;

/** What the snapshot of a revision is called. */
export const snapshotName = (image: { name: string; uid: string }, revision: number) =>
  `${image.name}-${shortHash(image.uid)}-r${revision}`;

/** The image that a DataVolume, claim or snapshot of ours was made for, by its name; undefined for anybody else's. */
export const imageNameOf = (child: string) => /^(.+)-[0-9a-f]{8}-r\d+(-a\d+)?$/.exec(child)?.[1];

/**
 * The metadata of an object made for a revision of an image. The labels identify it. A snapshot has no owner besides: a foreground
 * deletion would delete it while machines still use the image. prune deletes it in any case.
 */
export const imageChildMetadata = (image: VMDiskImage, name: string, revision: number) => ({
  name,
  namespace: image.metadata.namespace,
  labels: { ...managedBy, [imageUidLabel]: image.metadata.uid, [revisionLabel]: String(revision) },
});
