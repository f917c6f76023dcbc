/** The word for the phase of an object that no function has observed yet. */
export const unseen = 'Unseen';

/** One value of a gauge. NaN means "not known": the exporter leaves such points out. */
export const point = (
  metric: string,
  value: number | undefined,
  attributes: Readonly<Record<string, string>> = {},
) => ({
  metric,
  value: value ?? Number.NaN,
  attributes,
});

/** One more of that key. */
export const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

/** Of a known count, what was never counted is 0. */
export const countIn = <K>(counts: ReadonlyMap<K, number> | undefined, key: K) => counts && (counts.get(key) ?? 0);
