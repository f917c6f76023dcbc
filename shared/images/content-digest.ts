import { publishedContent, syncRequested, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { digestOf } from '../kubernetes/names.ts';

/** Digest of what the image is to hold: a changed name, Secret or CA wants no new download. */
export const contentDigest = ({ spec, metadata }: VMDiskImage, requested = requestedSync({ metadata })) =>
  digestOf([
    spec.url,
    spec.sourceType,
    spec.checksum ?? null,
    spec.diskSize,
    spec.storageClass,
    spec.snapshotClass,
    requested,
    metadata.annotations?.[publishedContent] ?? null,
  ]);

/** The status fields that identify the content. */
export const contentStatus = (image: VMDiskImage) => ({
  contentDigest: contentDigest(image),
  syncRequested: requestedSync(image),
});

const requestedSync = ({ metadata }: Pick<VMDiskImage, 'metadata'>): string | null =>
  metadata.annotations?.[syncRequested] ?? null;
