/** The first of these stories of that name; throws if none matches. `name`: a pattern, or how it begins. */
export function named<S extends { name: string }>(stories: readonly S[], name: RegExp | string): S {
  const isIt = (story: S) => (typeof name === 'string' ? story.name.startsWith(name) : name.test(story.name));
  const found = stories.find(isIt);
  if (!found) throw new Error(`expected a story ${name}, found ${stories.map((story) => story.name).join('; ')}`);
  return found;
}
