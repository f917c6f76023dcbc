import type { Condition } from '../kinds/schema.ts';
import { conditionOf } from './conditions.ts';

/** What users see of any object of ours. */
interface Shown {
  metadata: { deletionTimestamp?: string | undefined };
  status?:
    | { phase?: string | undefined; message?: string | undefined; conditions?: readonly Condition[] | undefined }
    | undefined;
}

/** Phases that are final unless the object changes. */
export const lastPhases: ReadonlySet<string> = new Set(['Ready', 'Succeeded', 'Skipped']);

/** The phase as users see it: an object that is being deleted is Terminating, whatever its phase was. */
export const phaseOf = <P extends string>({
  metadata,
  status,
}: Shown & { status?: { phase?: P | undefined } | undefined }): P | 'Terminating' | '' =>
  metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');

/** What keeps an object that is to be deleted, in words; undefined if nothing does. */
export function heldBy({ status }: Pick<Shown, 'status'>): string | undefined {
  const held = conditionOf(status?.conditions, 'DeletionHeld');
  return held?.status === 'True' ? held.message : undefined;
}

/** The current message of an object; undefined if it has none. */
export function messageOf({ metadata, status }: Shown): string | undefined {
  if (!metadata.deletionTimestamp) return status?.message;
  // The message of a Ready object is outdated once it is being deleted.
  return heldBy({ status }) ?? (lastPhases.has(status?.phase ?? '') ? 'It is being deleted.' : status?.message);
}
