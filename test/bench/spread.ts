/** How long something took, in milliseconds. */
export interface Spread {
  count: number;
  p50: number;
  p95: number;
}

/** Median and 95th percentile by nearest rank; NaN where there are no samples. */
export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95) };
}
