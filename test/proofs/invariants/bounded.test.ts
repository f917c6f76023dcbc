import { describe, expect, test } from 'vitest';
import { aVMDiskImage, start } from '../../support/builders/images.ts';
import { aHistory, aPolicy, by, expectKept, granted } from './a-history.ts';
import { b1Bounded } from './b1-bounded.ts';
import { check } from './check.ts';
import type { Asked, Pass } from './history.ts';

const aPass = (pass: Partial<Pass>): Pass => ({
  by: 'prune',
  since: 101,
  atMs: start,
  about: ['VMDiskImage vmdi-farm/a'],
  isTimed: false,
  asked: [],
  mostInFlight: 1,
  mostWritesBegun: 1,
  ...pass,
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
const says = (pass: Partial<Pass>, before = written) =>
  check(aHistory(before, { passes: [aPass(pass)] }), [b1Bounded]).map((violation) => violation.says);

const policyChanged = { about: ['ConfigMap sync-operator/sync-operator-policy'] };

describe('a pass within its limits breaks nothing:', () => {
  test.each<[string, Partial<Pass>]>([
    ['32 requests in flight', { mostInFlight: 32, mostWritesBegun: 32 }],
    ['an image that its event names, the policy and the Lease', { asked: [get('a'), get('policy'), get('slots')] }],
    ['a thousand images that events name', { about: many(1000, String), asked: many(1000, get) }],
    ['a whole list in many pages', { asked: many(500, (page) => list(undefined, 500, 'VirtualMachine', page)) }],
    [
      'the namespace of each image that a selective list finds',
      { asked: [list('status.phase=Failed', 300), ...many(300, get)] },
    ],
    [
      'an audit that reads something for each object',
      { isTimed: true, about: [], asked: [list(undefined, 300), ...many(300, get)] },
    ],
    ['a new policy, too', { ...policyChanged, asked: [list(undefined, 300), ...many(300, get)] }],
    ['two writes of prune to one image', { asked: [patch('a'), patch('a')] }],
    ['one write to each of a thousand', { asked: many(1000, (index) => patch(`${index}`)) }],
    ['Events, however many', { asked: many(100, () => ({ ...patch('x', 'Event'), verb: 'create' as const })) }],
    ['whatever somebody else asks for', { by: 'user', mostInFlight: 99 }],
  ])('%s', (_, pass) => expect(says(pass)).toEqual([]));

  test('a history without passes', () => expectKept(aHistory(written)));

  test('the images that hold slots, which an event does not name', () => {
    const pass: Partial<Pass> = { by: 'start-sync', asked: many(12, get) };
    expect(says(pass)).toEqual([expect.stringContaining('12 objects were read one by one')]);
    const holders = many(8, (index) => aVMDiskImage({ name: `i${index}`, uid: `uid-${index}` }));
    expect(says(pass, [...written, by('start-sync', granted(...holders))])).toEqual([]);
  });
});

describe('a pass beyond a limit is said with its function, its revision and the limit:', () => {
  test.each<[string, Partial<Pass>]>([
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
  ])('%s', (what, pass) => expect(says(pass)).toEqual([`${pass.by ?? 'prune'}, pass at revision 101: ${what}`]));
});
