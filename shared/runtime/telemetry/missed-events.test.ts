import { describe, expect, test } from 'vitest';
import type { Action } from '../../actions.ts';
import type { Batch } from '../../function.ts';
import { defineResource } from '../../kinds/resource.ts';
import { isMissedEvent, missedEvents, timerAlone } from './missed-events.ts';

const Widget = defineResource({ apiVersion: 'demo.example.com/v1', kind: 'Widget', plural: 'widgets' }, {});
const writes: Action[] = [{ do: 'create', resource: Widget, object: { metadata: { name: 'w' } } }];
const tells: Action[] = [{ do: 'publish', type: 'a', id: '1', subject: 'w', data: {} }];
const subject = { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'b' };
const message = { id: '1', type: 'a', source: 'b', time: undefined, data: {} };
const batch = (more: Partial<Batch>): Batch => ({ subjects: [], messages: [], sweep: false, audit: false, ...more });

test.each<[string, Partial<Batch>, string | undefined]>([
  ['by no one', {}, undefined],
  ['by the sweep', { sweep: true }, 'sweep'],
  ['by both timers', { sweep: true, audit: true }, 'audit'],
  ['by a change as well', { audit: true, subjects: [subject] }, undefined],
  ['by a message as well', { sweep: true, messages: [message] }, undefined],
])('a reconcile %s is of that timer alone', (_, more, timer) => {
  expect(timerAlone(batch(more))).toBe(timer);
});

describe('what a timer finds', () => {
  const nowMs = Date.parse('2026-01-01T12:00:00Z');
  const seconds = (count: number) => nowMs - count * 1000;
  /** Something is due from that moment on. */
  const dueFrom = (dueMs: number) => (observed: { nowMs: number }) => (observed.nowMs >= dueMs ? writes : []);
  const isMissed = (dueMs: number, timer: 'sweep' | 'audit') =>
    isMissedEvent(dueFrom(dueMs), { nowMs }, dueFrom(dueMs)({ nowMs }), timer);
  test('is a missed event where time has no part in it', () => {
    expect(isMissed(0, 'sweep')).toBe(true);
    expect(isMissedEvent(() => writes, { image: 'a' }, writes, 'audit')).toBe(true);
  });
  test('is none where it has become due since the tick before', () => {
    expect(isMissed(seconds(29), 'sweep')).toBe(false);
    expect(isMissed(seconds(599), 'audit')).toBe(false);
  });
  test('is one where it was due long before', () => {
    expect(isMissed(seconds(61), 'sweep')).toBe(true);
    expect(isMissed(seconds(1201), 'audit')).toBe(true);
  });
  test('is none where nothing is written', () => {
    expect(isMissedEvent(() => tells, { nowMs }, tells, 'audit')).toBe(false);
    expect(isMissedEvent(() => [], { nowMs }, [], 'audit')).toBe(false);
  });
  test('is none where only an audit decides so', () => {
    const decide = ({ isAudit }: { nowMs: number; isAudit: boolean }) => (isAudit ? writes : []);
    expect(isMissedEvent(decide, { nowMs, isAudit: true }, writes, 'audit')).toBe(false);
  });
});

test('a missed event is measured, but not of the part for OpenStack, which sends no events', () => {
  const measured = (part?: 'kubevirt' | 'openstack') => {
    const declaration = { name: 'a-function', decide: () => writes, ...(part ? { part } : {}) };
    return missedEvents(declaration, batch({ sweep: true }), {}, writes).map(({ attributes }) => attributes);
  };
  const point = { function: 'a-function', timer: 'sweep' };
  expect([measured(), measured('kubevirt'), measured('openstack')]).toEqual([[point], [point], []]);
});
