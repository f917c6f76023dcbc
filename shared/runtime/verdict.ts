import type { Batch, Message, Subject } from '../function.ts';
import { keyOf } from '../kinds/resource.ts';
import { Conflict } from './errors.ts';

/** The result of one decision. */
export interface Decision {
  observed: unknown;
  /** Why it has to be made again; absent if all of it was performed. */
  error?: unknown;
}

/** Why the events of a batch have to be redelivered; undefined if they are done. */
export type Verdict = (batch: Batch) => Promise<unknown>;

/**
 * The verdict on each event of a reconcile. It is that of the decisions about the event's object; without any, that of the
 * decisions that read the object; and if none did (the object is deleted, or the event is a timer's), that of all decisions. Of the decisions
 * that are performed beside the next reconciles, by the key of their object, an event waits for that about its own object, a timer's for all.
 */
export function verdictOf(
  decisions: readonly Decision[],
  beside: ReadonlyMap<string, Promise<Decision>> = new Map(),
): Verdict {
  const ofOthers = verdictOfDone(decisions);
  return async (batch) => {
    const isTimed = batch.sweep || batch.audit;
    const waited = isTimed ? [...beside.values()] : keysOf(batch).flatMap((key) => beside.get(key) ?? []);
    if (waited.length === 0) return ofOthers(batch);
    const error = worst(await Promise.all(waited));
    return isTimed ? (error ?? ofOthers(batch)) : error;
  };
}

const keysOf = ({ subjects, messages }: Batch) => [...subjects.map(keyOf), ...messages.map(keyOfMessage)];

function verdictOfDone(decisions: readonly Decision[]): (batch: Batch) => unknown {
  if (decisions.every(({ error }) => error === undefined)) return () => undefined;
  const about = new Map<string, Decision[]>();
  const saw = new Map<string, Decision[]>();
  for (const decision of decisions) {
    for (const [key, depth] of keysIn(decision.observed)) {
      const found = depth === 0 ? about : saw;
      found.set(key, [...(found.get(key) ?? []), decision]);
    }
  }
  return (batch) => {
    const keys = keysOf(batch);
    if (batch.sweep || batch.audit || keys.length === 0) return worst(decisions);
    return worst(keys.flatMap((key) => about.get(key) ?? saw.get(key) ?? decisions));
  };
}

/** An error that a retry may mend comes before a conflict with another writer. */
function worst(decisions: readonly Decision[]): unknown {
  const errors = decisions.map(({ error }) => error).filter((error) => error !== undefined);
  return errors.find((error) => !(error instanceof Conflict)) ?? errors[0];
}

const keyOfMessage = ({ data }: Message) => {
  const { namespace, name } = (data ?? {}) as Partial<Subject>;
  return keyOf({ namespace, name: name ?? '' });
};

/** An entry has lists, and lists by name, in itself and in its parts. */
const deepest = 3;

/** The objects and references in an entry, by namespace/name, each with its depth: 0 is the entry's own object. */
function keysIn(observed: unknown): Map<string, number> {
  const keys = new Map<string, number>();
  const look = (value: unknown, depth: number) => {
    if (typeof value !== 'object' || value === null) return;
    const { name, namespace } = ('metadata' in value ? value.metadata : value) as {
      name?: unknown;
      namespace?: string;
    };
    if (typeof name === 'string') {
      const key = keyOf({ namespace, name });
      keys.set(key, Math.min(depth, keys.get(key) ?? depth));
    } else if (depth < deepest) {
      const parts = value instanceof Map || Array.isArray(value) ? value.values() : Object.values(value);
      for (const part of parts) look(part, depth + 1);
    }
  };
  if (typeof observed === 'object' && observed !== null) for (const part of Object.values(observed)) look(part, 0);
  return keys;
}
