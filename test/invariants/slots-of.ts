import type { Lease } from '../../shared/resources/coordination/lease.ts';
import { type Holder, holdersOf } from '../../shared/rules/slots.ts';

/** Who holds a slot, by the uids of their images. */
export type Slots = ReadonlyMap<string, Holder>;

/** Each Lease is read once, however many invariants ask. */
const read = new WeakMap<Lease, Slots | 'unreadable'>();

/** Who holds a slot by this Lease; undefined where it says nothing that can be read. */
export function slotsOf(lease: Lease | undefined): Slots | undefined {
  if (!lease) return undefined;
  let slots = read.get(lease);
  if (slots === undefined) {
    const holders = holdersOf(lease);
    slots = holders ? new Map(holders.map((holder) => [holder.uid, holder])) : 'unreadable';
    read.set(lease, slots);
  }
  return slots === 'unreadable' ? undefined : slots;
}

/** Those that the second has and the first has not. */
export const addedTo = (before: Slots | undefined, after: Slots): Holder[] =>
  [...after.values()].filter(({ uid }) => !before?.has(uid));
