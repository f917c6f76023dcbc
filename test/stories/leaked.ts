/** Those of the words that stand in the text, as they are or in whatever in it may be base64, twice over. */
export const leaked = (text: string, words: readonly string[]): string[] => {
  const readings = [...readingsOf(text, 2)];
  return words.filter((word) => readings.some((reading) => reading.includes(word)));
};

/** The text, and what each run of base64's letters comes to, wherever in it the encoded part may begin. */
function* readingsOf(text: string, depth: number): Generator<string> {
  yield text;
  if (depth === 0) return;
  for (const run of new Set(text.match(/[\w+/-]{8,}/g))) {
    for (let from = 0; from < 4; from++)
      yield* readingsOf(Buffer.from(run.slice(from), 'base64').toString('latin1'), depth - 1);
  }
}
