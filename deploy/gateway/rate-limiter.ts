const minuteMs = 60_000;

/**
 * Lets each caller through so many times a minute; says how many seconds to wait where it does not. What it counts is
 * forgotten with the minute, and each replica counts for itself.
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
