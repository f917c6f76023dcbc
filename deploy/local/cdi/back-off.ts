const firstMs = 10_000;
const maxMs = 300_000;
const forgottenAfterMs = 600_000;

/** How often in a row a container has failed without a long run in between. */
export interface RestartHistory {
  failures: number;
}

/**
 * The kubelet's pause before a failed container starts again: none the first time, then 10, 20, 40 … 300 s. A run of ten
 * minutes makes it forget, so that long downloads that fail late are repeated back to back.
 */
export function nextBackOff(
  { failures }: RestartHistory,
  ranMs: number,
  scale: number,
): { history: RestartHistory; backOffMs: number } {
  const before = ranMs >= forgottenAfterMs * scale ? 0 : failures;
  const pauseMs = before === 0 ? 0 : Math.min(firstMs * 2 ** (before - 1), maxMs);
  return { history: { failures: before + 1 }, backOffMs: pauseMs * scale };
}
