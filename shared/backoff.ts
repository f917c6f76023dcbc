/** How long to wait after the n-th failure (1, 2, …): the first wait doubles each time, up to the longest. */
export const backoffMs = (failures: number, firstMs: number, longestMs: number) =>
  Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
