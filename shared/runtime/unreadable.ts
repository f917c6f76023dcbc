import type { Unreadable } from '../function.ts';
import { type ObjectReference, referenceOf } from '../kinds/resource.ts';

/** An object that is skipped in the reconcile, because it or what its decision needs could not be read. */
export const unreadable = ({ namespace, name }: ObjectReference, error: unknown): Unreadable => ({
  unreadable: referenceOf({ metadata: { namespace, name } }),
  error,
});

/** Reads an object. If that fails, only this object is skipped in the reconcile. */
export const orUnreadable = <T>(ref: ObjectReference, reading: Promise<T>): Promise<T | Unreadable> =>
  reading.catch((error: unknown) => unreadable(ref, error));

export const isUnreadable = (one: unknown): one is Unreadable =>
  typeof one === 'object' && one !== null && 'unreadable' in one;

/** What was read. Throws why it could not be. */
export function readable<T>(one: T | Unreadable): T {
  if (isUnreadable(one)) throw one.error;
  return one;
}

/** What was read and exists, and what could not be read. */
export const partition = <T>(
  all: readonly (T | Unreadable | undefined)[],
): { read: T[]; unreadable: Unreadable[] } => ({
  read: all.filter((one): one is T & {} => one !== undefined && !isUnreadable(one)),
  unreadable: all.filter(isUnreadable),
});
