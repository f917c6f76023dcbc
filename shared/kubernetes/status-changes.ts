/** The fields that differ, as a merge patch: null removes a field. */
export function changesOf(before: object, wanted: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const found = before as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([key, value]) => value !== found[key] && canonical(value) !== canonical(found[key]))
      .map(([key, value]) => [key, value ?? null]),
  );
}

/** The same data with sorted keys: the API server does not keep their order. */
export function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}

/** The same text for the same data. */
export const canonical = (value: unknown): string => JSON.stringify(inOrder(value)) ?? '';
