import type { VMDiskImage } from '../../../shared/resources/pelotech/vm-disk-image.ts';
import { type Fact, nameOf } from './cluster-view.ts';

/** What an image's history says that it did not say before; a history keeps the last ten, so the older ones may be gone. */
export function newFacts(before: VMDiskImage | undefined, image: VMDiskImage): Fact[] {
  const known = (before?.metadata.uid === image.metadata.uid && before.status?.history) || [];
  const history = image.status?.history ?? [];
  // The number of entries both have: the longest end of what was known that what is known now begins with.
  const shared = overlap(known.map(textOf), history.map(textOf));
  return history.slice(shared).map(({ time, fact, message }) => ({ time, fact, message, image: nameOf(image) }));
}

const textOf = (entry: object) => JSON.stringify(entry);

function overlap(before: readonly string[], after: readonly string[]): number {
  for (let length = Math.min(before.length, after.length); length > 0; length--) {
    if (before.slice(-length).every((text, index) => text === after[index])) return length;
  }
  return 0;
}

/** That an image is gone, which its history can no longer say. */
export const goneFact = (image: VMDiskImage, nowMs: number): Fact => ({
  time: new Date(nowMs).toISOString(),
  fact: 'Deleted',
  message: 'The image and all that was made for it are gone.',
  image: nameOf(image),
});
