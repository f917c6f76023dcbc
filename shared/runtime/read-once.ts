/** Reads what many name once for each key. */
export function readOnce<K, T>(read: (of: K) => Promise<T>, keyOf: (of: K) => string): (of: K) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (of) => {
    const key = keyOf(of);
    const reading = known.get(key) ?? read(of);
    known.set(key, reading);
    return reading;
  };
}
