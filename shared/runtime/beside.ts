import { type KnownBeside, keyOfSubject, type Subject, subjectOf } from '../function.ts';
import type { KubernetesObject } from '../kinds/resource.ts';
import { limitConcurrency } from './concurrency.ts';
import { Conflict } from './errors.ts';
import type { Effects } from './perform.ts';
import type { Decision } from './verdict.ts';

/** The limit of decisions that are begun or wait for their turn. */
export const mostBeside = 50;

/** The limit of those that are performed at once: as many requests may be ahead of a reconcile's own. */
const besideAtOnce = 4;

/** The pause before an object is looked at again after a conflict. */
const againAfterMs = 1000;

/** Decisions that no reconcile waits for, each about one object. */
export interface Beside {
  /** What a reconcile knows of them; from before it reads, because what it reads may show them half done. */
  known(): KnownBeside;
  /** The subjects that no such decision is about. The others are looked at when it is done. */
  others(subjects: readonly Subject[]): Subject[];
  /**
   * Performs a decision about the object in its turn; undefined if there is no room: then it is looked at when there is, unless one fails
   * before.
   */
  perform(about: KubernetesObject, run: () => Promise<Decision>): Promise<Decision> | undefined;
}

export function besideReconciles(requeueAfter: Effects['requeueAfter'], random: () => number): Beside {
  const busy = new Map<string, { uid: string; isNamed: boolean }>();
  const limited = limitConcurrency(besideAtOnce);
  let next: Subject | undefined;
  const done = (about: Subject, { error }: Decision) => {
    const key = keyOfSubject(about);
    if (busy.get(key)?.isNamed) requeueAfter(about, 0);
    busy.delete(key);
    if (error instanceof Conflict) requeueAfter(about, againAfterMs * (1 + random()));
    // Others may fail likewise: none is begun before an event or the sweep.
    else if (error !== undefined) next = undefined;
    if (!next || busy.size > mostBeside / 2) return;
    requeueAfter(next, 0);
    next = undefined;
  };
  return {
    known: () => ({
      busy: new Set([...busy.values()].map(({ uid }) => uid)),
      room: mostBeside - busy.size,
      isAwaited: next !== undefined,
    }),
    others: (subjects) =>
      subjects.filter((subject) => {
        const one = busy.get(keyOfSubject(subject));
        if (one) one.isNamed = true;
        return !one;
      }),
    perform(object, run) {
      const about = subjectOf(object);
      if (busy.size >= mostBeside) {
        next ??= about;
        return undefined;
      }
      busy.set(keyOfSubject(about), { uid: object.metadata.uid, isNamed: false });
      return limited(async () => {
        const decision = await run().catch((error: unknown): Decision => ({ observed: object, error }));
        done(about, decision);
        return decision;
      });
    },
  };
}
