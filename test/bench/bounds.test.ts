import { expect, test } from 'vitest';
import { boundsOf, type Measured } from './bounds.ts';
import { nothingToDo } from './reconcile-costs.ts';

const run = {
  images: 200,
  handOversMs: [10, 20],
  baselineMs: [2, 4],
  quietBaselineMs: [2, 3],
  calls: [],
  progressWrites: 0,
  tookMs: 1,
};
const reconcile = { batch: nothingToDo, function: 'start-sync', finished: 0, reads: 3, writes: 0 };
const whole = { what: 'whole', retryLimit: 2, attempts: 1, needed: 100, sent: 102, flowBytes: 0 };

const start = { what: 'prune', firstAnswerMs: [90, 300, 400, 500], residentBytes: 90e6, ownBytes: 40e6 };
const bare = { ...start, what: 'bare Node', firstAnswerMs: [40, 70, 80, 900] };

const events = { images: 10, deliveries: new Map([['Pod → prune', 410]]), events: 390, hops: 970, outcomes: [] };

const broken = (measured: Partial<Measured>) =>
  boundsOf({ runs: [run], reconciles: [reconcile], bytes: [whole], starts: [bare, start], events, ...measured })
    .filter(({ holds }) => !holds)
    .map(({ what }) => what);

test('what stays within its bounds breaks none', () => {
  expect(broken({})).toEqual([]);
});

test('a hand-over that takes more than ten bare round trips breaks its bound', () => {
  expect(broken({ runs: [{ ...run, handOversMs: [41] }] })).toEqual(['slot free → next DataVolume, p95']);
});

test('a run in which no slot was handed on proves nothing', () => {
  expect(broken({ runs: [{ ...run, handOversMs: [] }] })).toEqual(['slot free → next DataVolume, p95']);
});

test('more writes than an image may cost break their bound', () => {
  const writes = {
    function: 'start-sync',
    verb: 'patch',
    resource: 'vmdiskimages.pelotech.ot',
    isDone: true,
    count: 1881,
  };
  expect(broken({ runs: [{ ...run, calls: [writes] }] })).toEqual(['writes to Succeeded, 200 queued']);
});

test('more reads than an image may cost break their bound', () => {
  const reads = { function: 'prune', verb: 'get', resource: 'vmdiskimages.pelotech.ot', isDone: true, count: 7001 };
  expect(broken({ runs: [{ ...run, calls: [reads] }] })).toEqual(['reads, 200 queued']);
});

test('an event, a delivery or a hop more break their bounds', () => {
  const more = { images: 10, deliveries: new Map([['Pod → prune', 411]]), events: 391, hops: 971, outcomes: [] };
  expect(broken({ events: more })).toEqual(['events', 'deliveries', 'hops through a filter']);
});

test('a sweep of four calls breaks its bound, whether they read or write', () => {
  expect(broken({ reconciles: [{ ...reconcile, writes: 1 }] })).toEqual(['sweep with nothing to do, start-sync']);
});

test('reads that grow with finished images break their bound, in the audit alone they may', () => {
  const idle = { ...reconcile, reads: 2 };
  expect(broken({ reconciles: [idle, { ...idle, finished: 100, reads: 3 }] })).toHaveLength(1);
  const audits = [1, 3].map((reads) => ({ ...reconcile, batch: 'audit, nothing to do', reads }));
  expect(broken({ reconciles: [reconcile, ...audits] })).toEqual([]);
});

test('a broken image that is downloaded more often than it may breaks its bound', () => {
  expect(broken({ bytes: [{ ...whole, sent: 301 }] })).toEqual(['bytes sent / needed, whole']);
});

test('a function that takes more than five times as long as bare Node to its first answer breaks its bound', () => {
  const slow = { ...start, firstAnswerMs: [300, 351, 400, 500] };
  expect(broken({ starts: [bare, slow] })).toEqual(['start to first answer, prune']);
});

test('one lucky start of bare Node breaks no bound', () => {
  expect(broken({ starts: [{ ...bare, firstAnswerMs: [5, 70, 80, 900] }, start] })).toEqual([]);
});

test('a function that holds more than 70 MB of its own at rest breaks its bound', () => {
  expect(broken({ starts: [bare, { ...start, ownBytes: 71e6 }] })).toEqual(['memory of its own at rest, prune']);
});

test('timed and counted bounds are kept apart', () => {
  const timed = boundsOf({ runs: [run], reconciles: [reconcile], bytes: [whole], starts: [bare, start], events })
    .filter(({ isTimed }) => isTimed)
    .map(({ what }) => what);
  expect(timed).toEqual(['slot free → next DataVolume, p95', 'start to first answer, prune']);
});
