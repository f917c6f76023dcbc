import { seeded } from '../../../deploy/local/seeded.ts';

/** Random uids: their order must not be the order of creation, because queues break ties by uid. */
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
