import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Story } from '../../stories/world.ts';
import { describeRule, type Rule } from './granted.ts';
import { proofOf, type Recorded, record, usersOf } from './proofs.ts';

/** How many run at once without slowing each other, while the stories are timed. */
const recordedAtOnce = 3;

interface Proven {
  stories: readonly Story[];
  granted: readonly Rule[];
}

/** Declares that a story uses each of the rules, and that a story fails without it. */
export function proveNeeded(title: string, { stories, granted }: Proven): void {
  describe(title, () => {
    let recorded: Recorded[] = [];
    // A function that is refused what it needs logs it at every event.
    const log = vi.spyOn(console, 'error');
    beforeAll(async () => {
      log.mockImplementation(() => undefined);
      recorded = await record(stories, recordedAtOnce);
    }, 600_000);
    afterAll(() => log.mockRestore());

    test('lets every story get to its end, and nothing is refused', () => {
      const failed = recorded.filter(({ run }) => run.failure !== undefined || run.refused.size > 0);
      expect(failed.map(({ story, run }) => [story.name, run.failure, ...run.refused])).toEqual([]);
    });

    test('is used: each rule by one of these stories at least', () => {
      expect(granted.filter((rule) => usersOf(rule, recorded).length === 0).map(describeRule)).toEqual([]);
    });

    // Several at once: a story that fails mostly waits.
    test.concurrent.each(granted.map((rule) => [describeRule(rule), rule] as const))(
      'is needed: a story fails without "%s"',
      async (_, rule) => {
        expect(await proofOf(rule, recorded), 'a story that fails without it').toBeDefined();
      },
      1_800_000,
    );
  });
}
