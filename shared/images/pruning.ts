import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { Policy } from '../policy.ts';
import { isMadeForWorkspaces } from '../workspaces/images.ts';

/** Keeps an unused image from being pruned, with any value but "false". */
export const keepAnnotation = 'pelotech.ot/keep';

/** A user asked to keep it. */
export const isKept = ({ metadata }: VMDiskImage) => (metadata.annotations?.[keepAnnotation] ?? 'false') !== 'false';

/** Why the image is to be deleted, whatever the policy says; undefined if it stays. */
export const whyPrunable = (image: VMDiskImage): 'Deleted' | 'LastReference' | undefined =>
  image.metadata.deletionTimestamp ? 'Deleted' : isUnusedWorkspaceImage(image) ? 'LastReference' : undefined;

/** The image was made for a workspace and is unused according to its status. */
export const isUnusedWorkspaceImage = (image: VMDiskImage) =>
  isMadeForWorkspaces(image) &&
  image.metadata.deletionTimestamp === undefined &&
  image.status?.unreferencedSince !== undefined &&
  !isKept(image);

/**
 * From when such an image may be deleted, whatever the policy's prune is, in milliseconds since 1970. A downloaded image is kept for the
 * policy's workspaceImagesKeptFor, so that a lab that is deleted and applied again downloads nothing.
 */
export function workspaceImageDueAtMs(image: VMDiskImage, { values }: Policy): number | undefined {
  if (!isUnusedWorkspaceImage(image)) return undefined;
  const { phase, snapshot, unreferencedSince = '' } = image.status ?? {};
  const keptMs = snapshot || phase === 'Snapshotting' ? values.workspaceImagesKeptFor : 0;
  return keptMs === 0 ? 0 : Date.parse(unreferencedSince) + keptMs;
}

/** When an unused image will have been unused for the policy's pruneAfter, in milliseconds since 1970. */
export function dueAtMs(image: VMDiskImage, { values }: Policy): number | undefined {
  const { metadata, status } = image;
  const sinceMs = Date.parse(status?.unreferencedSince ?? '');
  if (isKept(image) || metadata.deletionTimestamp !== undefined || !Number.isFinite(sinceMs)) return undefined;
  return sinceMs + values.pruneAfter;
}

/** The image was unused for that long according to its status, and no user asked to keep it. */
export const isDue = (image: VMDiskImage, policy: Policy, nowMs: number) =>
  (dueAtMs(image, policy) ?? Number.POSITIVE_INFINITY) <= nowMs;
