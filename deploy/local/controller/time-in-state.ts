import type { Clock } from '../clock.ts';

/** How long something has been in the state it is in, as this process has seen it; what it forgets costs time and nothing else. */
export interface TimeInState {
  /** Milliseconds since `what` was first seen in this very state, or at all where it has but one. */
  msIn(what: string, state?: string): number;
  /** Whether `what` was seen in this very state before; from now on it was. */
  hasSeen(what: string, state: string): boolean;
  /** Removes the times of deleted objects. */
  forget(uid: string): void;
}

export function timeInState(clock: Clock): TimeInState {
  const seen = new Map<string, { state: string; sinceMs: number }>();
  const hasSeen = (what: string, state: string) => {
    if (seen.get(what)?.state === state) return true;
    seen.set(what, { state, sinceMs: clock.now() });
    return false;
  };
  return {
    hasSeen,
    msIn: (what, state = '') => (hasSeen(what, state) ? clock.now() - (seen.get(what)?.sinceMs ?? clock.now()) : 0),
    forget(uid) {
      for (const what of seen.keys()) if (what.startsWith(`${uid} `)) seen.delete(what);
    },
  };
}
