const minuteMs = 60_000;

/**
 * Limits the requests of each caller in a minute; returns the seconds to wait if the limit is reached. Counts are
 * dropped after the minute, and each replica counts for itself.
 */
export function rateLimiter(now: () => number) {
  let minute = 0;
  let counts = new Map<string, number>();
  return (caller: string, perMinute: number): { waitSeconds: number } | undefined => {
    const nowMs = now();
    if (Math.floor(nowMs / minuteMs) !== minute) {
      minute = Math.floor(nowMs / minuteMs);
      counts = new Map();
    }
    const count = (counts.get(caller) ?? 0) + 1;
    counts.set(caller, count);
    return count > perMinute ? { waitSeconds: Math.ceil(((minute + 1) * minuteMs - nowMs) / 1000) } : undefined;
  };
}
