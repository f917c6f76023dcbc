import type { KnownBeside } from '../../../shared/function.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { compareVersions } from '../../../shared/kinds/resource.ts';
import { toMicroTime } from '../../../shared/kubernetes/time.ts';

/** It has no status yet, and so no place in the queue. */
export const isNew = ({ status, metadata }: VMDiskImage) => !status?.phase && !metadata.deletionTimestamp;

/** The limit of new images that are queued by the reconcile that gives the slots. With the others it reads no more than a URL holds uids. */
export const mostFirst = 40;

/** The limit of new images for beside the next reconciles: one more than there is room for has a reconcile begin when there is room again. */
export const mostOthers = ({ room }: KnownBeside) => room + 1;

/** Orders images without a place by their creation. */
export const byCreation = (a: VMDiskImage, b: VMDiskImage) =>
  a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp) ||
  compareVersions(a.metadata.resourceVersion, b.metadata.resourceVersion);

/**
 * The places of images that are not queued yet: their time of creation, so that an image whose event was lost keeps its place.
 * creationTimestamp has a grain of a second; within it, resourceVersion tells who came first.
 */
export function placesOf(newImages: readonly VMDiskImage[], others: readonly VMDiskImage[]): Map<string, string> {
  const lastInSecond = new Map<string, number>();
  for (const { status } of others) {
    const micros = status?.queuedAt === undefined ? undefined : microsOf(status.queuedAt);
    if (!status?.queuedAt || micros === undefined) continue;
    const second = status.queuedAt.slice(0, 19);
    lastInSecond.set(second, Math.max(lastInSecond.get(second) ?? 0, micros));
  }
  const places = new Map<string, string>();
  for (const image of [...newImages].sort(byCreation)) {
    const second = image.metadata.creationTimestamp.slice(0, 19);
    const micros = Math.min((lastInSecond.get(second) ?? 0) + 1, 999_999);
    lastInSecond.set(second, micros);
    places.set(image.metadata.uid, `${second}.${String(micros).padStart(6, '0')}Z`);
  }
  return places;
}

const microsOf = (microTime: string) => {
  const digits = /\.(\d{1,6})Z$/.exec(microTime)?.[1];
  return digits === undefined ? 0 : Number(digits.padEnd(6, '0'));
};

/** A place at the present end of the queue. */
export const lastPlace = (nowMs: number) => toMicroTime(nowMs);
