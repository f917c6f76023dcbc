import type { Message, Subject, Wake } from '../function.ts';
import { keyOf } from '../resources/resource.ts';
import { Conflict } from './errors.ts';

/** What became of one decision. */
export interface Decision {
  observed: unknown;
  /** Why it is to be made again; absent where all of it was done. */
  error?: unknown;
}

/** Why the events of a wake are wanted again; undefined where all that they asked for is done. */
export type Verdict = (wake: Wake) => unknown;

/**
 * Tells the events of a pass apart by what became of their objects: an event answers for the decisions that are about its object,
 * else for those that saw it among others, else (its object is gone, or it is a timer) for all.
 */
export function verdictOf(decisions: readonly Decision[]): Verdict {
  if (decisions.every(({ error }) => error === undefined)) return () => undefined;
  const about = new Map<string, Decision[]>();
  const saw = new Map<string, Decision[]>();
  for (const decision of decisions) {
    for (const [key, depth] of keysIn(decision.observed)) {
      const found = depth === 0 ? about : saw;
      found.set(key, [...(found.get(key) ?? []), decision]);
    }
  }
  return ({ subjects, messages, sweep, audit }) => {
    const keys = [...subjects.map(keyOf), ...messages.map(keyOfMessage)];
    if (sweep || audit || keys.length === 0) return worst(decisions);
    return worst(keys.flatMap((key) => about.get(key) ?? saw.get(key) ?? decisions));
  };
}

/** What trying again may mend comes before what somebody else wrote first. */
function worst(decisions: readonly Decision[]): unknown {
  const errors = decisions.map(({ error }) => error).filter((error) => error !== undefined);
  return errors.find((error) => !(error instanceof Conflict)) ?? errors[0];
}

const keyOfMessage = ({ data }: Message) => {
  const { namespace, name } = (data ?? {}) as Partial<Subject>;
  return keyOf({ namespace, name: name ?? '' });
};

/** Lists, and lists by name, stand within an entry and within its parts. */
const deepest = 3;

/** The objects and references that an entry shows, by namespace/name, each with how deep in it: 0 is its own. */
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
