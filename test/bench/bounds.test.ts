import { describe, expect, test } from 'vitest';
import { boundsOf, type Measured } from './bounds.ts';
import { type Figure, type LifeTable, lifeTables } from './life-tables.ts';
import { type Life, type LifeName, lifeNames } from './lives.ts';
import { nothingToDo } from './reconcile-costs.ts';
import type { SyncRun } from './sync-run.ts';

const run: SyncRun = {
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

const broken = (measured: Partial<Measured>) =>
  boundsOf({ runs: [run], reconciles: [reconcile], bytes: [whole], starts: [bare, start], lives: [], ...measured })
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

test('a write more for each image breaks its bound, whatever it is for', () => {
  const calls = (verb: string, resource: string, isDone: boolean, each: number, name = 'follow-sync') => [
    { function: name, verb, resource, isDone, count: each * run.images },
  ];
  const image = 'vmdiskimages.pelotech.ot/status';
  const broke = (more: Partial<SyncRun>) => broken({ runs: [{ ...run, ...more }] });
  expect(broke({ calls: calls('delete', 'datavolumes.cdi.kubevirt.io', true, 3) })).toEqual([
    'writes after Succeeded, 200 queued',
  ]);
  expect(broke({ calls: calls('create', 'events', true, 2) })).toEqual(['writes Events, 200 queued']);
  expect(broke({ calls: calls('update', 'leases', false, 1) })).toEqual(['writes refused, 200 queued']);
  expect(broke({ calls: calls('patch', image, true, 1), progressWrites: 200 })).toEqual([
    'writes progress, 200 queued',
  ]);
});

describe('of an object', () => {
  const objects = 10;
  /** As the table has it, so many more by key. */
  const countsOf = (rows: LifeTable['writes'], keyOf: (outer: string, inner: string) => string, written = new Map()) =>
    new Map(
      Object.entries(rows).flatMap(([outer, inner]) =>
        Object.entries(inner).map(([key, figure]): [string, number] => {
          const each =
            typeof figure === 'number'
              ? figure
              : 'most' in figure
                ? figure.most
                : figure.more + written.get(figure.beside) / objects;
          return [keyOf(outer, key), each * objects];
        }),
      ),
    );
  const numberOf = (figure: Figure) => (typeof figure === 'number' ? figure : 'most' in figure ? figure.most : 0);
  const lifeOf = (what: LifeName): Life => {
    const table = lifeTables[what];
    const total = (figure: Figure) => numberOf(figure) * objects;
    const writes = countsOf(table.writes, (name, write) => `${name} ${write}`);
    return {
      what,
      objects,
      deliveries: countsOf(table.deliveries, (trigger, event) => `${event} → ${trigger}`, writes),
      writes,
      reads: total(table.reads),
      repeated: total(table.repeated),
      events: new Map([['anything', total(table.events)]]),
      hops: new Map([['anything', total(table.hops)]]),
      outcomes: [],
    };
  };
  /** One more for each object, or half as many again. */
  const grown = (counts: ReadonlyMap<string, number>, key: string) => {
    const count = counts.get(key) ?? 0;
    return new Map([...counts, [key, count + Math.max(objects, 0.5 * count)]]);
  };
  const total = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((sum, count) => sum + count, 0);

  describe.each(lifeNames)('%s', (what) => {
    const life = lifeOf(what);

    test('what the table has breaks nothing', () => {
      expect(broken({ lives: [life] })).toEqual([]);
    });

    test('a delivery more, or one of a new kind, breaks its bound', () => {
      for (const key of [...life.deliveries.keys(), 'Pod update → a-new-trigger'])
        expect(broken({ lives: [{ ...life, deliveries: grown(life.deliveries, key) }] })).toEqual([key]);
    });

    test('a write more, or one of a new kind, breaks its bound', () => {
      for (const key of [...life.writes.keys(), 'prune delete nodes'])
        expect(broken({ lives: [{ ...life, writes: grown(life.writes, key) }] })).toEqual([key]);
    });

    test('an event, a hop, a read or a repeated delivery more breaks its bound', () => {
      expect(broken({ lives: [{ ...life, events: new Map([['anything', 1.5 * total(life.events)]]) }] })).toEqual([
        'events',
      ]);
      expect(broken({ lives: [{ ...life, hops: new Map([['anything', 1.5 * total(life.hops)]]) }] })).toEqual([
        'hops through a filter',
      ]);
      expect(broken({ lives: [{ ...life, reads: 1.5 * life.reads }] })).toEqual(['reads']);
      expect(broken({ lives: [{ ...life, repeated: 1.5 * life.repeated + objects }] })).toEqual([
        'deliveries repeated',
      ]);
    });
  });
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
  const timed = boundsOf({ runs: [run], reconciles: [reconcile], bytes: [whole], starts: [bare, start], lives: [] })
    .filter(({ isTimed }) => isTimed)
    .map(({ what }) => what);
  expect(timed).toEqual(['slot free → next DataVolume, p95', 'start to first answer, prune']);
});
