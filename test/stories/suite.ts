/** The stories of a group, by their names, that `npm test` runs; all others are left to `npm run test:slow`. */
export interface Suites {
  quick?: readonly string[];
}

/** Of a group's stories those that belong to the suite of this mode, so that each runs in one of the two. */
export function inSuite<T extends { name: string }>(
  stories: readonly T[],
  { quick = [] }: Suites,
  mode: string | undefined,
): T[] {
  const names = new Set(stories.map(({ name }) => name));
  const strange = quick.filter((name) => !names.has(name));
  if (strange.length > 0) throw new Error(`expected the name of a story, found ${strange.join('; ')}`);
  return stories.filter(({ name }) => quick.includes(name) === (mode !== 'slow'));
}
