/** RFC 7386: what is null goes, what is not named stays, a list is replaced whole. */
export function merged(found: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const base = isRecord(found) ? found : {};
  const changed = Object.entries(patch).map(([key, value]) => [key, value === null ? null : merged(base[key], value)]);
  return Object.fromEntries(
    Object.entries({ ...base, ...Object.fromEntries(changed) }).filter(([key, value]) => {
      const isEmptied =
        isRecord(value) &&
        Object.keys(value).length === 0 &&
        isRecord(patch[key]) &&
        Object.keys(patch[key]).length > 0;
      return value !== null && !isEmptied;
    }),
  );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
