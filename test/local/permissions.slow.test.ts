import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { generatedFolders, readManifests } from '../../deploy/local/manifests.ts';
import { stories as badInput } from '../journeys/bad-input.ts';
import { stories as deadLetters } from '../journeys/dead-letters.ts';
import { stories as deletion } from '../journeys/deletion.ts';
import { stories as failures } from '../journeys/failures.ts';
import { stories as machineBadInput } from '../journeys/machine-bad-input.ts';
import { stories as machineDeletion } from '../journeys/machine-deletion.ts';
import { stories as machineFailures } from '../journeys/machine-failures.ts';
import { stories as machineImages } from '../journeys/machine-images.ts';
import { stories as machinesLife } from '../journeys/machines-life.ts';
import { postWithFetch, storiesWith } from '../journeys/preload.ts';
import { stories as pruning } from '../journeys/pruning.ts';
import { stories as references } from '../journeys/references.ts';
import { stories as revisions } from '../journeys/revisions.ts';
import { stories as takenNames } from '../journeys/taken-names.ts';
import { stories as wakers } from '../journeys/wakers.ts';
import type { Story } from '../journeys/world.ts';
import { grantedRules, inWords } from '../permissions/granted.ts';
import { inTurns, proofOf, type Recorded, record, usersOf } from '../permissions/proofs.ts';
import { withoutTimers } from '../permissions/story-run.ts';

function named(stories: readonly Story[], name: RegExp): Story {
  const found = stories.find((story) => name.test(story.name));
  if (!found) throw new Error(`expected a story ${name}, found ${stories.map((story) => story.name).join('; ')}`);
  return found;
}

/**
 * Few and quick stories that use every rule between them; of those that use a rule the first ones are tried first. No
 * timer runs in them: what a sweep would find a little later all the same has to be found at once.
 */
const stories = [
  ...[
    named(deletion, /while Queued/),
    named(takenNames, /DataVolume/),
    named(storiesWith('fetch', postWithFetch), /outside imageNamespaces/),
    named(wakers, /a raised limit/),
    named(revisions, /somebody deleted is said to be lost/),
    named(badInput, /a source the policy does not allow/),
  ].map(withoutTimers),
  named(wakers, /the audit alone/),
  named(references, /the audit alone counts/),
  named(machineImages, /the audit alone makes the image/),
  ...[
    named(failures, /is missing fails at once/),
    named(deletion, /while Syncing/),
    named(deletion, /while Succeeded/),
    named(revisions, /last snapshot stays usable/),
    named(deadLetters, /raise the count of one Event/),
    named(deadLetters, /has the Broker's/),
    named(machineImages, /comes before its image/),
    named(machineImages, /waits for its image, and goes on/),
    named(machineImages, /^FailIfNotExist that is changed/),
    named(machineImages, /template and an image that is there differ/),
    named(machineBadInput, /^a namespace that is not there: /),
    named(references, /right after every machine/),
    named(references, /may not name the image/),
    named(pruning, /at the last moment/),
    named(machineDeletion, /^the image first/),
    named(machineFailures, /whose node is lost/),
    named(machinesLife, /^from apply to Ready/),
    named(machinesLife, /from the namespace of images/),
    named(machinesLife, /^changed users/),
    named(machinesLife, /without it it starts/),
    named(machinesLife, /^a clone that cannot go on/),
    named(machinesLife, /^thirty machines/),
  ].map(withoutTimers),
];

/** What others of the stories use of these they mostly do not need. */
const tellers = {
  'ensure-vmdi': /^(FailIfNotExist that is changed|with every event dropped the audit alone makes the image)/,
  'count-refs': /^(an image says who uses it|with every event dropped the audit alone counts)/,
  'source-kubevirt': /whose node is lost/,
  'provision-vm':
    /^(from apply|a disk is cloned|changed users|a machine with ignoreOnDeploy|a disk that waits|a clone that cannot|\S+ machines that wait)/,
};

/** Used at a scrape and by no event: proven in deploy/local/telemetry.slow.test.ts. */
const atScrape = ['start-sync list virtualmachines.pelotech.ot'];

const granted = grantedRules(await readManifests(...generatedFolders)).filter(
  (rule) => !atScrape.includes(inWords(rule)),
);

/** So many at once do not make each other slower, which counts while the stories' times are taken. */
const recordedAtOnce = 3;
/** A story that fails mostly waits. */
const provenAtOnce = 4;

describe('what ServiceAccounts are granted', () => {
  let recorded: Recorded[] = [];
  let proofs = new Map<string, string | undefined>();
  // A function that is refused what it needs says so at every event.
  const log = vi.spyOn(console, 'error');
  beforeAll(async () => {
    log.mockImplementation(() => undefined);
    recorded = await record(stories, recordedAtOnce);
    proofs = new Map(
      await inTurns(
        granted,
        provenAtOnce,
        async (rule) => [inWords(rule), await proofOf(rule, recorded, tellers)] as const,
      ),
    );
  }, 1_800_000);
  afterAll(() => log.mockRestore());

  test('lets every story get to its end, and nothing is refused', () => {
    const failed = recorded.filter(({ run }) => run.failure !== undefined || run.refused.size > 0);
    expect(failed.map(({ story, run }) => [story.name, run.failure, ...run.refused])).toEqual([]);
  });

  test('is used: each rule by one of these stories at least', () => {
    expect(granted.filter((rule) => usersOf(rule, recorded).length === 0).map(inWords)).toEqual([]);
  });

  test.each(granted.map(inWords))('is needed: a story fails without "%s"', (rule) => {
    expect(proofs.get(rule), 'a story that fails without it').toBeDefined();
  });
});
