import { expect, test } from 'vitest';
import { boundsOf } from './bounds.ts';
import { report } from './report.ts';

const outcomes = [{ function: 'prune', event: 'Pod delete', served: 25, acted: 5, reads: new Map([['get pods', 20]]) }];
const measured = {
  runs: [
    {
      images: 200,
      handOversMs: [10, 50],
      baselineMs: [2, 4],
      quietBaselineMs: [1, 2],
      calls: [{ function: 'start-sync', verb: 'create', resource: 'pods', isDone: true, count: 100 }],
      progressWrites: 0,
      tookMs: 1000,
    },
  ],
  reconciles: [{ batch: 'sweep, nothing to do', function: 'start-sync', finished: 0, reads: 3, writes: 0 }],
  bytes: [{ what: 'whole', retryLimit: 2, attempts: 1, needed: 1000, sent: 1020, flowBytes: 0 }],
  starts: [
    { what: 'bare Node', firstAnswerMs: [40, 50], residentBytes: 60e6, ownBytes: 16e6 },
    { what: 'prune', firstAnswerMs: [90, 110], residentBytes: 90e6, ownBytes: 40e6 },
  ],
  lives: [
    {
      what: 'an image is synced' as const,
      objects: 10,
      deliveries: new Map([['Pod delete → start-sync-images', 27]]),
      writes: new Map([['prune delete pods', 5]]),
      reads: 30,
      repeated: 0,
      events: new Map([['Pod delete', 25]]),
      hops: new Map([['Pod delete', 75]]),
      outcomes,
    },
  ],
};
const bounds = boundsOf(measured);
const machine = { processors: '2 × test', node: 'v24', load: [0.5, 1.5] as const };
const lines = report({ ok: false, tookMs: 1000, machine, ...measured, bounds }, { columns: 200, colour: false });
const lineWith = (text: string) => lines.find((line) => line.includes(text)) ?? '';

test('each promise stands with what was found, what is allowed, and whether it holds', () => {
  expect(lineWith('slot free → next DataVolume, p95')).toMatch(/ 12\.50 +10\.00 .*FAIL$/);
  expect(lineWith('sweep with nothing to do, start-sync')).toMatch(/ 3\.00 +3\.00 +calls +PASS$/);
  expect(lines.at(-1)).toBe('3 broken.');
});

test("figures are never without the machine's load", () => {
  expect(lineWith('Measured')).toContain('load 0.5 before and 1.5 after');
});

test('writes are told for each image', () => {
  expect(lineWith('create pods')).toMatch(/start-sync +create pods +0\.50$/);
});

test('deliveries and writes of an object are told all together, and each beside its bound', () => {
  expect(lineWith('an image is synced   ')).toMatch(/ 10 +2\.5 +2\.7 +7\.5 +0\.5$/);
  expect(lineWith('Pod delete → start-sync-images')).toMatch(/ 2\.70 +2\.60 +an object +FAIL$/);
  expect(lineWith('prune delete pods')).toMatch(/ 0\.50 +0\.00 +an object +FAIL$/);
});

test('what an event led to is printed for each image, with its reads', () => {
  expect(lineWith('Pod delete')).toMatch(/^ +prune +Pod delete +0\.5 +2\.0 +2\.0 +get pods 2\.0$/);
});
