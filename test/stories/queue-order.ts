import { holdersOf } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Change } from './history.ts';

/** The images in the order of the queue: by `queuedAt`, then by uid. */
export function queueOrder(changes: readonly Change[]): string[] {
  const first = ([, a]: [string, string], [, b]: [string, string]) => (a < b ? -1 : 1);
  return namesOf(
    [...placesIn(changes)].sort(first).map(([uid]) => uid),
    changes,
  );
}

/** The images in the order in which the Lease gave them their first slot. */
export function slotOrder(changes: readonly Change[]): string[] {
  const leases = changes.map(({ object }) => object).filter(({ kind }) => kind === Lease.kind);
  const holders = leases.flatMap((lease) => holdersOf(lease as Lease) ?? []);
  return namesOf([...new Set(holders.map(({ uid }) => uid))], changes);
}

function namesOf(uids: readonly string[], changes: readonly Change[]): string[] {
  const images = changes.map(({ object }) => object).filter(({ kind }) => kind === VMDiskImage.kind);
  const names = new Map(images.map(({ metadata: { uid, name } }) => [uid, name]));
  return uids.map((uid) => names.get(uid) ?? uid);
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
