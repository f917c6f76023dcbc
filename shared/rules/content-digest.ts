import { publishedContent, syncRequested, type VMDiskImage } from '../resources/pelotech/vm-disk-image.ts';
import { digestOf } from './names.ts';

/** Digest of what the image is to hold: a changed name, Secret or CA wants no new download. */
export const contentDigest = ({ spec, metadata }: VMDiskImage) =>
  digestOf([
    spec.url,
    spec.sourceType,
    spec.checksum ?? null,
    spec.diskSize,
    spec.storageClass,
    spec.snapshotClass,
    metadata.annotations?.[syncRequested] ?? null,
    metadata.annotations?.[publishedContent] ?? null,
  ]);
