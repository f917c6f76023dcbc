import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';

/** What has been seen of one image so far, by somebody who only watches it. */
export interface WatchedImage {
  name: string;
  uid: string;
  /** Empty until a function has looked at it. */
  phase: string;
  attempts: number;
  reason: string;
  message: string;
  /** Its place in the line while it is Queued. */
  queuedAt: string;
  steps: readonly Step[];
}

/** An arrow the image took: when, and how much of its object had been downloaded by then. */
export interface Step {
  phase: string;
  atMs: number;
  downloadedBytes: number;
}

/** Takes another state of the image into account; the same object comes back where nothing changed that is told here. */
export function watchImage(
  before: WatchedImage | undefined,
  image: VMDiskImage,
  nowMs: number,
  downloadedBytes: number,
): WatchedImage {
  const { phase = '', attempts = 0, message = '', queuedAt = '', conditions } = image.status ?? {};
  const known = before?.uid === image.metadata.uid ? before : undefined;
  if (known && known.phase === phase && known.attempts === attempts) return known;
  const step: Step = { phase, atMs: nowMs, downloadedBytes };
  return {
    name: image.metadata.name,
    uid: image.metadata.uid,
    phase,
    attempts,
    message,
    queuedAt,
    reason: conditionOf(conditions, 'Ready')?.reason ?? '',
    steps: known?.phase === phase ? known.steps : [...(known?.steps ?? []), step],
  };
}

const waiting: readonly string[] = ['', 'Queued'];

/** How long it has stood in the queue, all its attempts together; the pause before a retry is no queue. */
export function waitedMs({ steps }: WatchedImage, nowMs: number): number {
  return steps.reduce((sum, { phase, atMs }, index) => {
    const untilMs = steps[index + 1]?.atMs ?? nowMs;
    return waiting.includes(phase) ? sum + untilMs - atMs : sum;
  }, 0);
}

export const isAtRest = ({ phase }: WatchedImage) => phase === 'Succeeded' || phase === 'Failed';

/** The images in line, the one that waited longest first. */
export const lineOfQueued = (images: readonly WatchedImage[]) =>
  images
    .filter(({ phase }) => phase === 'Queued')
    .sort((a, b) => a.queuedAt.localeCompare(b.queuedAt) || a.uid.localeCompare(b.uid));

/** Those in line that had waited longer than the one that is just leaving it for a slot. */
export function overtakenBy(leaving: WatchedImage, images: readonly WatchedImage[]): WatchedImage[] {
  const line = lineOfQueued([...images.filter(({ uid }) => uid !== leaving.uid), { ...leaving, phase: 'Queued' }]);
  return line.slice(
    0,
    line.findIndex(({ uid }) => uid === leaving.uid),
  );
}
