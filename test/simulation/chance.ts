/** Numbers from 0 to 1 that look like chance and are the same for the same seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** A uid that tells nothing of the order in which it was given: queues break ties by it. */
export function uids(seed: number): () => string {
  const next = chance(seed);
  const digits = () =>
    Math.floor(next() * 4294967296)
      .toString(16)
      .padStart(8, '0');
  return () => {
    const [a, b, c, d] = [digits(), digits(), digits(), digits()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
  };
}
