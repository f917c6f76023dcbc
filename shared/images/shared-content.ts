import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { digestOf } from '../kubernetes/names.ts';
import { isAdopted, isAdopting } from './adoption.ts';
import { byPlace, isQueued, placeOf } from './queue.ts';

/** What an inspection found out about the content of a source. */
interface Inspected {
  bytes: number | null | undefined;
  etag: string | null | undefined;
}

/**
 * The digest that two images of a namespace share if a disk of the one can replace a disk of the other; undefined if that is not known. A
 * strong checksum identifies a content wherever its source is. An ETag does so at one server only: the owner of a server chooses its ETags.
 */
export function sharedContentOf({ spec }: Pick<VMDiskImage, 'spec'>, { bytes, etag }: Inspected): string | undefined {
  const { sourceType, url, checksum, diskSize, storageClass, snapshotClass } = spec;
  if (bytes === undefined || bytes === null) return undefined;
  const isStrong = etag?.startsWith('"') && etag.endsWith('"') && etag.length > 2;
  const byTag = isStrong ? [sourceType, sourceType === 's3' ? URL.parse(url)?.origin : url, etag, checksum] : undefined;
  const source = /^sha(256|512):/.test(checksum ?? '') ? checksum : byTag;
  return source && digestOf([source, bytes, diskSize, storageClass, snapshotClass]);
}

/** The content that the present revision of an image downloads, or has downloaded, with its namespace; undefined if that is not known. */
export function contentOf(image: VMDiskImage): string | undefined {
  const { source, queuedAt } = image.status ?? {};
  const isCurrent = source?.content !== undefined && source.queuedAt === queuedAt && !isAdopted(image);
  return isCurrent ? `${image.metadata.namespace}/${source.content}` : undefined;
}

/**
 * The content that a queued image need not download if another has it. A person who asks for a download gets one; and what a clone failed
 * for is not tried a second time.
 */
export const wantedContent = (image: VMDiskImage): string | undefined =>
  image.status?.sharedFrom || image.status?.syncRequested ? undefined : contentOf(image);

/** The contents that are being downloaded, so that images that want one wait for that. */
export function contentsUnderWay(images: Iterable<VMDiskImage>, holders: Iterable<{ uid: string }>): Set<string> {
  const holding = new Set([...holders].map(({ uid }) => uid));
  const contents = new Set<string>();
  for (const image of images) {
    const content = isUnderWay(image, holding.has(image.metadata.uid)) ? contentOf(image) : undefined;
    if (content !== undefined) contents.add(content);
  }
  return contents;
}

/** It downloads, or is about to. A clone keeps no other image waiting: its donor serves all of them. */
function isUnderWay(image: VMDiskImage, isHolder: boolean) {
  const { phase, sharedFrom } = image.status ?? {};
  if (image.metadata.deletionTimestamp) return false;
  if (phase === 'Queued') return isHolder;
  return (phase === 'Syncing' || phase === 'Snapshotting') && !sharedFrom && !isAdopting(image);
}

/** The image waits until another has downloaded its content. */
export function waitsForContent(image: VMDiskImage, underWay: ReadonlySet<string>): boolean {
  const content = isQueued(image) ? wantedContent(image) : undefined;
  return content !== undefined && underWay.has(content);
}

/** Of the images that want the same content the first in the queue: the others get a slot after it. */
export function oneOfEachContent(queue: readonly VMDiskImage[]): VMDiskImage[] {
  const first = new Map<string, VMDiskImage>();
  for (const image of queue) {
    const content = wantedContent(image);
    const known = content === undefined ? undefined : first.get(content);
    if (content !== undefined && (!known || byPlace(placeOf(image), placeOf(known)) < 0)) first.set(content, image);
  }
  return queue.filter((image) => {
    const content = wantedContent(image);
    return content === undefined || first.get(content) === image;
  });
}
