import { describe, expect, test } from 'vitest';
import { aVMDiskImage, start } from '../../support/builders/images.ts';
import { aHistory, aPolicy, by, expectHolds, granted } from './a-history.ts';
import { b1Bounded } from './b1-bounded.ts';
import { check } from './check.ts';
import type { Asked, Reconcile } from './history.ts';

const aReconcile = (reconcile: Partial<Reconcile>): Reconcile => ({
  by: 'prune',
  since: 101,
  atMs: start,
  about: ['VMDiskImage vmdi-farm/a'],
  isTimed: false,
  asked: [],
  mostInFlight: 1,
  mostWritesBegun: 1,
  ...reconcile,
});

const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const get = (name: string | number, kind = 'VMDiskImage'): Asked => ({
  verb: 'get',
  kind,
  of: `vmdi-farm/${name}`,
  objects: 1,
});
const list = (selector: string | undefined, objects: number, kind = 'VMDiskImage', page = 0): Asked => ({
  verb: 'list',
  kind,
  of: '',
  ...(selector ? { selector } : {}),
  page,
  objects,
});
const patch = (name: string, kind = 'VMDiskImage'): Asked => ({
  verb: 'patch',
  kind,
  of: `vmdi-farm/${name}`,
  objects: 1,
});

const written = [by('user', aVMDiskImage()), by('user', aPolicy({}))];
const messages = (reconcile: Partial<Reconcile>, before = written) =>
  check(aHistory(before, { reconciles: [aReconcile(reconcile)] }), [b1Bounded]).map((violation) => violation.message);

const policyChanged = { about: ['ConfigMap sync-operator/sync-operator-policy'] };

describe('a reconcile within its limits breaks nothing:', () => {
  test.each<[string, Partial<Reconcile>]>([
    ['32 requests in flight', { mostInFlight: 32, mostWritesBegun: 32 }],
    ['the image of the event, the policy and the Lease', { asked: [get('a'), get('policy'), get('slots')] }],
    ['a thousand images of events', { about: many(1000, String), asked: many(1000, get) }],
    ['a whole list in many pages', { asked: many(500, (page) => list(undefined, 500, 'VirtualMachine', page)) }],
    [
      'the namespace of each image that a selective list finds',
      { asked: [list('status.phase=Failed', 300), ...many(300, get)] },
    ],
    [
      'an audit that reads something for each object',
      { isTimed: true, about: [], asked: [list(undefined, 300), ...many(300, get)] },
    ],
    ['the same for a new policy', { ...policyChanged, asked: [list(undefined, 300), ...many(300, get)] }],
    ['two writes of prune to one image', { asked: [patch('a'), patch('a')] }],
    ['one write to each of a thousand images', { asked: many(1000, (index) => patch(`${index}`)) }],
    ['any number of Events', { asked: many(100, () => ({ ...patch('x', 'Event'), verb: 'create' as const })) }],
    ['any request of another client', { by: 'user', mostInFlight: 99 }],
  ])('%s', (_, reconcile) => expect(messages(reconcile)).toEqual([]));

  test('a history without reconciles', () => expectHolds(aHistory(written)));

  test('the images that hold slots, which no event names', () => {
    const reconcile: Partial<Reconcile> = { by: 'start-sync', asked: many(12, get) };
    expect(messages(reconcile)).toEqual([expect.stringContaining('12 objects were read one by one')]);
    const holders = many(8, (index) => aVMDiskImage({ name: `i${index}`, uid: `uid-${index}` }));
    expect(messages(reconcile, [...written, by('start-sync', granted(...holders))])).toEqual([]);
  });
});

describe('a reconcile beyond a limit is reported with its function, its revision and the limit:', () => {
  test.each<[string, Partial<Reconcile>]>([
    ['33 requests were in flight at once, 32 allowed', { mostInFlight: 33 }],
    ['33 writes were begun at once, 32 allowed', { mostWritesBegun: 33 }],
    [
      '300 objects were read one by one for 1 named and 0 found, 6 allowed',
      { asked: [list(undefined, 300), ...many(300, get)] },
    ],
    ['90 lists were made for 1 named and 0 found, 35 allowed', { asked: many(90, (index) => list(`uid=${index}`, 0)) }],
    ['3 writes to VMDiskImage vmdi-farm/a, 2 allowed', { asked: many(3, () => patch('a')) }],
    ['2 writes to VMDiskImage vmdi-farm/a, 1 allowed', { by: 'follow-sync', asked: many(2, () => patch('a')) }],
    ['4 reads of VMDiskImage vmdi-farm/a, 3 allowed', { asked: many(4, () => get('a')) }],
    ['2 lists of Pod uid=1, 1 allowed', { asked: many(2, () => list('uid=1', 0, 'Pod')) }],
  ])('%s', (what, reconcile) =>
    expect(messages(reconcile)).toEqual([`${reconcile.by ?? 'prune'}, reconcile at revision 101: ${what}`]),
  );
});
