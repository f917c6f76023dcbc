/** The known word that a misspelt word most likely means, if one is similar enough. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((name) => ({ name, distance: distanceOf(word.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.name : undefined;
}

/** The number of letters to insert, delete or replace, and of neighbours to exchange. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const isExchange = a[i] === b[j - 1] && a[i - 1] === b[j];
      const exchanged = isExchange ? (before[j - 1] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
