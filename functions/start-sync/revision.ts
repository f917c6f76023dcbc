import { publishedContent, syncRequested, type VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/rules/conditions.ts';
import { digestOf } from '../../shared/rules/names.ts';

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

/** Why a new download is wanted, or undefined: other content, or a lost snapshot that somebody uses. */
export function newRevisionReason(image: VMDiskImage): string | undefined {
  const { status } = image;
  if (!status?.phase) return undefined;
  if (status.contentDigest !== contentDigest(image)) return 'The spec or the requested sync changed.';
  const lost = conditionOf(status.conditions, 'SnapshotLost')?.status === 'True';
  const isAtRest = status.phase === 'Succeeded' || status.phase === 'Failed';
  // One download for each snapshot that was lost: a revision that was made for it and failed asks for no other.
  const isLatest = status.snapshot?.revision === status.revision;
  if (lost && isAtRest && isLatest && (status.references?.count ?? 0) > 0)
    return 'The snapshot is lost and the image is in use.';
  return undefined;
}
