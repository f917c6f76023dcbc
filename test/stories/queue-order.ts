import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Change } from './history.ts';

/** The images in the order of the queue: by `queuedAt`, then by uid. */
export function queueOrder(changes: readonly Change[]): string[] {
  const places = placesIn(changes);
  const names = new Map(
    changes
      .filter(({ object }) => object.kind === VMDiskImage.kind)
      .map(({ object: { metadata } }) => [metadata.uid, metadata.name]),
  );
  const first = ([, a]: [string, string], [, b]: [string, string]) => (a < b ? -1 : 1);
  return [...places].sort(first).map(([uid]) => names.get(uid) ?? uid);
}

/** Each image's place in the line, as text that sorts like the queue. */
function placesIn(changes: readonly Change[]): Map<string, string> {
  const places = new Map<string, string>();
  for (const { object } of changes) {
    if (object.kind !== VMDiskImage.kind) continue;
    const { uid } = object.metadata;
    const { queuedAt } = (object as VMDiskImage).status ?? {};
    if (queuedAt && !places.has(uid)) places.set(uid, `${queuedAt} ${uid}`);
  }
  return places;
}
