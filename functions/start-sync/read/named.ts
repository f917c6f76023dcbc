import { distinct } from '../../../shared/distinct.ts';
import { subjectsOf } from '../../../shared/function.ts';
import { isFinished, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import type { Reader } from './reader.ts';

/** The images as events and the cache show them. */
export interface NamedImages {
  /** What was read live, by key; undefined if it does not exist. */
  live: Map<string, VMDiskImage | undefined>;
  /** The unfinished ones, by key: as the cache has them, if they were not read live. */
  unfinished: Map<string, VMDiskImage>;
}

/** With more names than this, a list costs less than a read for each. */
const mostNamed = 100;

/**
 * Takes the unfinished images from the cache, so that an event costs the same however many wait. The cache may be behind. What events name is
 * read live and the cache waits for it, so no older image is missing. Undefined if that is not possible: then all are listed.
 */
export async function readNamed({
  kube,
  cached,
  batch,
}: Pick<Reader, 'kube' | 'cached' | 'batch'>): Promise<NamedImages | undefined> {
  const subjects = distinct(subjectsOf(batch, VMDiskImage), keyOf);
  if (!cached || subjects.length > mostNamed) return undefined;
  const named: NamedImages = { live: new Map(), unfinished: new Map() };
  await readLive(kube, named, subjects);
  const known = await cached(VMDiskImage);
  if (!known) return undefined;
  for (const image of known) {
    const key = keyOf(image.metadata);
    if (!named.live.has(key)) named.unfinished.set(key, image);
  }
  return named;
}

export async function readLive(
  kube: Reader['kube'],
  { live, unfinished }: NamedImages,
  refs: readonly ObjectReference[],
) {
  const found = await Promise.all(refs.map((ref) => kube.get(VMDiskImage, ref)));
  for (const [index, ref] of refs.entries()) {
    const [key, image] = [keyOf(ref), found[index]];
    live.set(key, image);
    if (image && !isFinished(image.status?.phase)) unfinished.set(key, image);
    else unfinished.delete(key);
  }
}
