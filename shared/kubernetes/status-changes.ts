/** The fields that differ, as a merge patch: null removes a field. */
export function changesOf(before: object, wanted: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const found = before as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([key, value]) => value !== found[key] && canonical(value) !== canonical(found[key]))
      .map(([key, value]) => [key, value ?? null]),
  );
}

/** The same text for the same data, whatever the order in which the API server keeps its keys. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? '';
