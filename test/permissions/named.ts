import type { Story } from '../journeys/world.ts';

/** The first of these stories that is called so; throws where there is none. */
export function named(stories: readonly Story[], name: RegExp): Story {
  const found = stories.find((story) => name.test(story.name));
  if (!found) throw new Error(`expected a story ${name}, found ${stories.map((story) => story.name).join('; ')}`);
  return found;
}
