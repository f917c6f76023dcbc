import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { isAdopted } from './adoption.ts';

/** How much of an image's download is done, from 0 to 1, as its status says; undefined where it tells nothing of it. */
export function downloadShareOf(image: Pick<VMDiskImage, 'status'> | undefined): number | undefined {
  const { phase, progress = '' } = image?.status ?? {};
  if (phase === 'Snapshotting') return 1;
  const percent = Number.parseFloat(progress);
  return phase === 'Syncing' && Number.isFinite(percent) ? Math.min(1, percent / 100) : undefined;
}

/** From when to when a download is estimated to take, in milliseconds since 1970, where CDI tells no share of it. */
export interface Estimate {
  fromMs: number;
  toMs: number;
}

/** Bytes in a millisecond: the median of the downloads that are done, each of one of the slots; undefined if none tells. */
export const rateOf = (images: readonly VMDiskImage[]) =>
  quantileOf(
    images.flatMap((image) => rateIn(image) ?? []),
    0.5,
  );

/** The value that this share of them is below; undefined of none. */
export const quantileOf = (values: readonly number[], share: number): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

/** A disk that was adopted or cloned was never downloaded. */
export const wasDownloaded = (image: VMDiskImage) =>
  image.status?.phase === 'Succeeded' && !image.status.sharedFrom && !isAdopted(image);

/** Bytes in a millisecond of the download of one image; undefined if it does not tell. */
export function rateIn(image: VMDiskImage): number | undefined {
  const { source, startedAt, snapshottingAt } = image.status ?? {};
  const tookMs = Date.parse(snapshottingAt ?? '') - Date.parse(startedAt ?? '');
  return wasDownloaded(image) && source?.bytes && tookMs > 0 ? source.bytes / tookMs : undefined;
}

/** By the size of its source and that rate; undefined for an image that downloads nothing, or whose share CDI tells. */
export function estimateOf(image: VMDiskImage | undefined, bytesPerMs: number | undefined): Estimate | undefined {
  const { phase, source, startedAt, sharedFrom } = image?.status ?? {};
  const fromMs = Date.parse(startedAt ?? '');
  if (phase !== 'Syncing' || downloadShareOf(image) !== undefined || !source?.bytes || !bytesPerMs || sharedFrom)
    return undefined;
  return Number.isNaN(fromMs) ? undefined : { fromMs, toMs: fromMs + source.bytes / bytesPerMs };
}

/** The share of such a download by now, at most 0.99. */
export const shareBetween = ({ fromMs, toMs }: Estimate, nowMs: number) =>
  Math.min(0.99, Math.max(0, (nowMs - fromMs) / (toMs - fromMs)));
