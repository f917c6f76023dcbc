import { seeded } from '../../../deploy/local/seeded.ts';

/** A uid that tells nothing of the order in which it was given: queues break ties by it. */
export function uids(seed: number): () => string {
  const next = seeded(seed);
  const digits = () =>
    Math.floor(next() * 4294967296)
      .toString(16)
      .padStart(8, '0');
  return () => {
    const [a, b, c, d] = [digits(), digits(), digits(), digits()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
  };
}
