import type { Unreadable } from '../function.ts';
import { type ObjectReference, referenceOf } from '../resources/resource.ts';

/** Reads an object. If that fails, only this object is skipped in the pass. */
export const orUnreadable = <T>({ namespace, name }: ObjectReference, reading: Promise<T>): Promise<T | Unreadable> =>
  reading.catch((error: unknown) => ({ unreadable: referenceOf({ metadata: { namespace, name } }), error }));

export const isUnreadable = (one: unknown): one is Unreadable =>
  typeof one === 'object' && one !== null && 'unreadable' in one;
