import { mapConcurrently } from '../../../shared/runtime/concurrency.ts';
import type { Story } from '../../stories/world.ts';
import { inWords, type Rule } from './granted.ts';
import { runStory, type StoryRun } from './story-run.ts';

/** A story that got to its end with every rule in place, and what that took. */
export interface Recorded {
  story: Story;
  run: StoryRun;
}

/** Runs each story unchanged, this many at a time. */
export const record = (stories: readonly Story[], atOnce: number): Promise<Recorded[]> =>
  mapConcurrently(stories, atOnce, async (story) => ({ story, run: await runStory(story, { withinMs: 120_000 }) }));

/** The stories that used the rule and got to their end: those that prove the permissions of its account, then the quickest. */
export function usersOf(rule: Rule, recorded: readonly Recorded[]): Recorded[] {
  const isOther = ({ story }: Recorded) => Number(!story.provesPermissions?.of?.includes(rule.account));
  return recorded
    .filter(({ run }) => run.failure === undefined && run.used.has(inWords(rule)))
    .sort((a, b) => isOther(a) - isOther(b) || a.run.tookMs - b.run.tookMs);
}

/**
 * The name of the first story that fails without the rule and with all the others; undefined where each that uses it
 * passes nevertheless. A story has twice what it took with the rule and some more; one that was cut off before
 * it came to the rule has shown nothing, and has more time once. The lack of that rule and of no other has to show.
 */
export async function proofOf(rule: Rule, recorded: readonly Recorded[]): Promise<string | undefined> {
  for (const { story, run } of usersOf(rule, recorded)) {
    for (const withinMs of timesFor(rule, run)) {
      const { failure, refused, declined, stopped } = await runStory(story, { lacking: rule, withinMs });
      const others = [...refused].filter((what) => !isRefusalOf(rule, what));
      if (others.length > 0)
        throw new Error(`expected only ${inWords(rule)} to be refused, found ${others.join(', ')}`);
      const isDeclined = [...declined].some((what) => isRefusalOf(rule, what) || isAskedByWebhook(rule, what));
      const hasShown = refused.size > 0 || isDeclined || stopped.includes(rule.account);
      if (failure === undefined) break;
      if (hasShown) return story.name;
    }
  }
  return undefined;
}

/** A source that does not run shows at once, whatever the story is slow for: it has the time of a busy machine. */
const timesFor = ({ account }: Rule, { tookMs }: StoryRun) =>
  account.startsWith('source-') ? [3 * tookMs + 10_000] : [2 * tookMs + 2_000, 6 * tookMs + 20_000];

/** An apply that may not make its object is refused under its own verb, and who may not bind a role, as it makes the binding. */
const isRefusalOf = (rule: Rule, what: string) =>
  what === inWords(rule) ||
  (rule.verb === 'create' && what === inWords({ ...rule, verb: 'patch' })) ||
  (rule.verb === 'bind' && what === inWords({ ...rule, resource: 'rolebindings', verb: 'create' }));

/** CDI refuses a DataVolume whose maker may not clone from the namespace it names. */
const isAskedByWebhook = (rule: Rule, what: string) =>
  rule.resource === 'datavolumes/source' && what === inWords({ ...rule, resource: 'datavolumes' });
