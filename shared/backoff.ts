/** When to look again at what no event reports: once more as long as it has waited, but at least `leastMs` and at most `mostMs`. */
export const nextLookMs = (waitedMs: number, leastMs: number, mostMs = Number.POSITIVE_INFINITY) =>
  Math.min(mostMs, Math.max(leastMs, waitedMs));

/** How long to wait after the n-th failure (1, 2, …): the first wait doubles each time, up to the longest. */
export const backoffMs = (failures: number, firstMs: number, longestMs: number) =>
  Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
