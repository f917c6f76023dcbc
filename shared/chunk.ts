/** Splits a list into chunks of at most `length`. */
export const chunk = <T>(all: readonly T[], length: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / length) }, (_, row) => all.slice(row * length, (row + 1) * length));
