/** A list in rows of at most so many, in its order. */
export const chunk = <T>(all: readonly T[], length: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / length) }, (_, row) => all.slice(row * length, (row + 1) * length));
