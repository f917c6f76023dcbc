import type { Clock } from '../clock.ts';

/** How long something has been so, in milliseconds, as this process has seen it; what it forgets costs time and nothing else. */
export interface Stopwatch {
  msSince(what: string): number;
}

export function stopwatch(clock: Clock): Stopwatch {
  const firstSeen = new Map<string, number>();
  return {
    msSince(what) {
      const sinceMs = firstSeen.get(what) ?? clock.now();
      firstSeen.set(what, sinceMs);
      return clock.now() - sinceMs;
    },
  };
}
