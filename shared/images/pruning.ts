import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { Policy } from '../policy.ts';

/** Keeps an image that nobody uses from being pruned, whatever its value is but "false". */
export const keepAnnotation = 'pelotech.ot/keep';

/** Somebody asked to keep it. */
export const isKept = ({ metadata }: VMDiskImage) => (metadata.annotations?.[keepAnnotation] ?? 'false') !== 'false';

/** When an image that nobody uses has been so for the policy's pruneAfter, milliseconds since 1970. */
export function dueAtMs(image: VMDiskImage, { values }: Policy): number | undefined {
  const { metadata, status } = image;
  const sinceMs = Date.parse(status?.unreferencedSince ?? '');
  if (isKept(image) || metadata.deletionTimestamp !== undefined || !Number.isFinite(sinceMs)) return undefined;
  return sinceMs + values.pruneAfter;
}

/** Nobody has used the image for so long, as far as its status knows, and nobody asked to keep it. */
export const isDue = (image: VMDiskImage, policy: Policy, nowMs: number) =>
  (dueAtMs(image, policy) ?? Number.POSITIVE_INFINITY) <= nowMs;
