import { expect, test } from 'vitest';
import { aLease, aVMDiskImage, type ImageOptions } from '../../test/support/builders/images.ts';
import type { Lease } from '../kinds/coordination/lease.ts';
import { parsePolicy } from '../policy.ts';
import {
  budgetBackOn,
  budgetLeft,
  bytesOfAttempt,
  type Egress,
  egressAnnotation,
  egressIn,
  egressSince,
  egressWith,
  mostDays,
  withinBudget,
} from './egress.ts';

const nowMs = Date.parse('2026-11-27T23:59:00Z');
const gib = 2 ** 30;
const policyOf = (egressBudget?: string) => parsePolicy({ data: egressBudget ? { egressBudget } : {} });
const source = (bytes: number) => ({
  bytes,
  inspectedAt: '2026-11-27T00:00:00Z',
  queuedAt: '2026-11-27T00:00:00.000000Z',
});
const anImage = (name: string, bytes: number, more: ImageOptions = {}) =>
  aVMDiskImage({ name, status: { phase: 'Queued', source: source(bytes) }, ...more });

test('an attempt counts with the size of its source, or of the disk where that is not known', () => {
  expect(bytesOfAttempt(anImage('a', 5))).toBe(5);
  expect(bytesOfAttempt(aVMDiskImage())).toBe(24 * gib);
});

test('attempts are counted by day and namespace, and forgotten when no budget can ask for them any more', () => {
  const before: Egress = { '2026-10-27': { lab: 1 }, '2026-10-28': { lab: 2 }, '2026-11-27': { lab: 4 } };
  const after = egressWith(before, [anImage('a', 8, { namespace: 'lab' }), anImage('b', 16)], nowMs);
  expect(after).toEqual({ '2026-10-28': { lab: 2 }, '2026-11-27': { lab: 12, 'vmdi-farm': 16 } });
  expect(egressSince(after, 1, nowMs)).toEqual(new Map(Object.entries({ lab: 12, 'vmdi-farm': 16 })));
  expect(egressSince(after, mostDays, nowMs).get('lab')).toBe(14);
});

test('the Lease stays small, whatever the number of namespaces', () => {
  const images = Array.from({ length: 500 }, (_, index) => anImage('a', 1, { namespace: `team-${index}` }));
  const sums = egressWith({}, images, nowMs)['2026-11-27'] ?? {};
  expect(Object.keys(sums)).toHaveLength(21);
  expect(sums.others).toBe(480);
});

test('a namespace of any name is counted', () => {
  const images = ['constructor', 'constructor', '__proto__'].map((namespace) => anImage('a', 2, { namespace }));
  const text = JSON.stringify(egressWith({}, images, nowMs));
  expect(text).toBe('{"2026-11-27":{"constructor":4,"__proto__":2}}');
  const lease = { metadata: { annotations: { [egressAnnotation]: text } } } as unknown as Lease;
  expect(budgetLeft(policyOf('10/1d'), egressIn(lease), nowMs)).toBe(4);
});

test.each(['', '7', '[]', 'null', '{"2026-11-27":7,"x":{"lab":1},"2026-11-26":{"lab":"1"},"2026-11-25":{"lab":3}}'])(
  'what no function wrote is not counted: %j',
  (text) => {
    const lease = { ...aLease([]), metadata: { ...aLease([]).metadata, annotations: { [egressAnnotation]: text } } };
    expect(egressSince(egressIn(lease as Lease), mostDays, nowMs)).toEqual(
      text.includes('lab') ? new Map([['lab', 3]]) : new Map(),
    );
  },
);

test('a budget covers a number of days that ends with today', () => {
  const egress: Egress = { '2026-11-25': { lab: 6 * gib }, '2026-11-26': { lab: gib }, '2026-11-27': { farm: gib } };
  expect(budgetLeft(policyOf(), egress, nowMs)).toBeUndefined();
  expect(budgetLeft(policyOf('3Gi/2d'), egress, nowMs)).toBe(gib);
  expect(budgetLeft(policyOf('7Gi/3d'), egress, nowMs)).toBe(0);
  expect(budgetBackOn(policyOf('7Gi/3d'), egress, nowMs)).toBe('2026-11-28');
  expect(budgetBackOn(policyOf('1Gi/3d'), egress, nowMs)).toBe('2026-11-30');
});

test('a size that no disk has does not make a day forgotten', () => {
  const sums = egressWith({ '2026-11-27': { lab: 5 } }, [anImage('a', 2 ** 60)], nowMs);
  const lease = { metadata: { annotations: { [egressAnnotation]: JSON.stringify(sums) } } } as unknown as Lease;
  expect(budgetLeft(policyOf('100Gi/7d'), egressIn(lease), nowMs)).toBe(0);
});

test('each may begin while the budget is not spent, so that at most one image exceeds it', () => {
  const queue = [anImage('a', 2 * gib), anImage('b', 2 * gib), anImage('c', 1)];
  const names = (found: readonly { metadata: { name: string } }[]) => found.map(({ metadata }) => metadata.name);
  expect(names(withinBudget(queue, policyOf('3Gi/1d'), {}, nowMs))).toEqual(['a', 'b']);
  expect(names(withinBudget(queue, policyOf(), {}, nowMs))).toEqual(['a', 'b', 'c']);
  const spent: Egress = { '2026-11-27': { lab: 3 * gib } };
  const urgent = { annotations: { 'pelotech.ot/ignore-budget': 'true' } };
  const others = [...queue, anImage('d', 1, urgent), anImage('e', 1, { ...urgent, namespace: 'lab' })];
  expect(names(withinBudget(others, policyOf('3Gi/1d'), spent, nowMs))).toEqual(['d']);
});

test.each(['500Gi', '0/30d', '1Gi/0d', '1Gi/32d', 'much/30d', '1Gi/30h', '1Gi/1d/1d'])('%j is no budget', (text) => {
  expect(policyOf(text).faults).toMatchObject([{ key: 'egressBudget' }]);
});
