import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { slotsAnnotation } from './plain-rules.ts';

/** A slot in the Lease. */
export interface Holder {
  uid: string;
  image: string;
  revision: number;
  attempt: number;
  since: string;
}

/** The slots by the uid of their image. */
export type Slots = ReadonlyMap<string, Holder>;

/** Each Lease is parsed once, however many invariants read it. */
const read = new WeakMap<Lease, Slots | 'unreadable'>();

/** The slots in this Lease; undefined if it is unreadable. */
export function slotsOf(lease: Lease | undefined): Slots | undefined {
  if (!lease) return undefined;
  let slots = read.get(lease);
  if (slots === undefined) {
    slots = readFrom(lease) ?? 'unreadable';
    read.set(lease, slots);
  }
  return slots === 'unreadable' ? undefined : slots;
}

/** A list in which each uid occurs once; anything else is unreadable. */
function readFrom({ metadata }: Lease): Slots | undefined {
  let list: unknown;
  try {
    list = JSON.parse(metadata.annotations?.[slotsAnnotation] ?? '');
  } catch {
    return undefined;
  }
  if (!Array.isArray(list) || !list.every(isHolder)) return undefined;
  const slots = new Map(list.map((holder) => [holder.uid, holder]));
  return slots.size === list.length ? slots : undefined;
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { uid, image, revision, attempt, since } = value as Record<string, unknown>;
  return (
    typeof uid === 'string' &&
    uid !== '' &&
    [image, since].every((text) => typeof text === 'string') &&
    [revision, attempt].every((number) => Number.isInteger(number)) &&
    (revision as number) >= 0 &&
    (attempt as number) > 0
  );
}

/** How many of these slots images of that namespace hold. */
export const slotsIn = (slots: Slots, namespace: string) =>
  [...slots.values()].filter(({ image }) => image.startsWith(`${namespace}/`)).length;

/** The slots in the second that are not in the first. */
export const addedTo = (before: Slots | undefined, after: Slots): Holder[] =>
  [...after.values()].filter(({ uid }) => !before?.has(uid));
