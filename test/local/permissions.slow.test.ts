import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { generatedFolders, readManifests } from '../../deploy/local/manifests.ts';
import { stories as deadLetters } from '../journeys/dead-letters.ts';
import { stories as deletion } from '../journeys/deletion.ts';
import { stories as failures } from '../journeys/failures.ts';
import { postWithFetch, storiesWith } from '../journeys/preload.ts';
import { stories as queue } from '../journeys/queue.ts';
import { stories as revisions } from '../journeys/revisions.ts';
import { stories as takenNames } from '../journeys/taken-names.ts';
import type { Story } from '../journeys/world.ts';
import { grantedRules, inWords } from '../permissions/granted.ts';
import { proofOf, type Recorded, record, usersOf } from '../permissions/proofs.ts';
import { withoutTimers } from '../permissions/story-run.ts';

function named(stories: readonly Story[], name: RegExp): Story {
  const found = stories.find((story) => name.test(story.name));
  if (!found) throw new Error(`expected a story ${name}, found ${stories.map((story) => story.name).join('; ')}`);
  return found;
}

/**
 * Few and quick stories that use every rule between them. No timer runs in them: what a sweep would find a little later
 * all the same has to be found at once.
 */
const stories = [
  named(deletion, /while Queued/),
  named(deletion, /while Syncing/),
  named(deletion, /while Succeeded/),
  named(failures, /is missing fails at once/),
  named(queue, /concurrency 0 pauses/),
  named(queue, /Lease that is deleted or garbled/),
  named(revisions, /last snapshot stays usable/),
  named(revisions, /somebody deleted is said to be lost/),
  named(takenNames, /DataVolume/),
  named(storiesWith('fetch', postWithFetch), /outside imageNamespaces/),
  named(deadLetters, /raise the count of one Event/),
  named(deadLetters, /has the Broker's/),
].map(withoutTimers);

const granted = grantedRules(await readManifests(...generatedFolders));

/** Most of a story is waiting. */
const atOnce = 4;

describe('what ServiceAccounts are granted', () => {
  let recorded: Recorded[] = [];
  // A function that is refused what it needs says so at every event.
  const log = vi.spyOn(console, 'error');
  beforeAll(async () => {
    log.mockImplementation(() => undefined);
    recorded = await record(stories, atOnce);
  }, 300_000);
  afterAll(() => log.mockRestore());

  test('lets every story get to its end, and nothing is refused', () => {
    const failed = recorded.filter(({ run }) => run.failure !== undefined || run.refused.size > 0);
    expect(failed.map(({ story, run }) => [story.name, run.failure, ...run.refused.keys()])).toEqual([]);
  });

  test('is used: each rule by one of these stories at least', () => {
    expect(granted.filter((rule) => usersOf(rule, recorded).length === 0).map(inWords)).toEqual([]);
  });

  describe('is needed: a story fails without', () => {
    test.concurrent.each(granted.map((rule) => [inWords(rule), rule] as const))(
      '%s',
      async (_, rule) => {
        expect(await proofOf(rule, recorded), 'a story that fails without it').toBeDefined();
      },
      300_000,
    );
  });
});
