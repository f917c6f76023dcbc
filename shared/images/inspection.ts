import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { Policy } from '../policy.ts';
import { isQueued } from './queue.ts';

/** What an inspection finds that no download can mend. */
export const sourceFaults = [
  'SourceMissing',
  'SourceForbidden',
  'NotAnImage',
  'ImageTruncated',
  'DiskTooSmall',
  'BackingFile',
] as const;
export type SourceFault = (typeof sourceFaults)[number];

const isSourceFault = (reason: string): reason is SourceFault => sourceFaults.some((fault) => fault === reason);

/** What the inspection of an image for its present place in the queue found; undefined if there was none. */
export function inspectionOf({ status }: VMDiskImage) {
  const { source, queuedAt, conditions } = status ?? {};
  if (source?.queuedAt === undefined || source.queuedAt !== queuedAt) return undefined;
  return conditionOf(conditions, 'SourceInspected');
}

/** The inspection of an image for its present place in the queue got no answer. */
export const isUnreachable = (image: VMDiskImage) => inspectionOf(image)?.reason === 'SourceUnreachable';

/** Why the source of a queued image can never work, as its inspection says. */
export function sourceFaultOf(image: VMDiskImage): { reason: SourceFault; message: string } | undefined {
  const found = inspectionOf(image);
  return found && isSourceFault(found.reason) ? { reason: found.reason, message: found.message } : undefined;
}

/** The image has Failed for its source, and its spec has changed since that was inspected. */
export const isSourceChanged = ({ metadata, status }: VMDiskImage) =>
  conditionOf(status?.conditions, 'SourceInspected')?.observedGeneration !== metadata.generation;

/** How much longer the image waits for its inspection before it may get a slot; 0 if it need not wait. */
export function inspectionWaitMs(image: VMDiskImage, { values }: Pick<Policy, 'values'>, nowMs: number): number {
  if (values.inspectTimeout === 0 || !isQueued(image)) return 0;
  const found = inspectionOf(image);
  if (found && found.reason !== 'SourceUnreachable') return 0;
  return Math.max(0, queuedMs(image) + values.inspectTimeout - nowMs);
}

/** Since when an image waits in the queue: its place may be older, if no function was there to queue it. */
export const queuedMs = ({ status }: VMDiskImage) =>
  Math.max(Date.parse(status?.queuedAt ?? '') || 0, Date.parse(status?.history?.at(-1)?.time ?? '') || 0);
