import { expect, test } from 'vitest';
import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import { type Booking, hourMs } from './bookings.ts';
import { judge } from './judge.ts';
import type { Seen, Week } from './simulate-week.ts';

const lab: Booking = {
  name: 'lab',
  createdMs: 0,
  startsMs: 9 * hourMs,
  endsMs: 17 * hourMs,
  images: ['content'],
  spec: {},
  annotations: [],
  sleeps: [[12 * hourMs, 13 * hourMs]],
};
const contents = [{ name: 'content', bytes: 10, downloadMs: 1 }];

const seen = (hour: number, resource: string, name: string, object: object, type: Seen['type'] = 'MODIFIED'): Seen => ({
  atMs: hour * hourMs,
  type,
  resource,
  object: { ...object, metadata: { name, namespace: 'ws-lab', uid: `${name}-${hour}` } } as unknown as ApiObject,
});
const workspace = (hour: number, phase: string, isLate = false, type?: Seen['type']) =>
  seen(
    hour,
    'pelotech.ot/workspaces',
    'lab',
    { status: { phase, conditions: [{ type: 'WillBeLate', status: isLate ? 'True' : 'False' }] } },
    type,
  );
const image = (hour: number) => seen(hour, 'pelotech.ot/vmdiskimages', 'content', { status: { phase: 'Succeeded' } });
const machine = (hour: number, runStrategy: string) =>
  seen(hour, 'kubevirt.io/virtualmachines', 'vm', { spec: { runStrategy } });
const importer = (hour: number) =>
  seen(hour, '/pods', `importer-content-1-r1-a1-${hour}`, { status: { phase: 'Running' } }, 'ADDED');

const good = [
  workspace(0, 'Scheduled'),
  importer(8),
  image(8.5),
  machine(9, 'Always'),
  workspace(9.1, 'Ready'),
  machine(12, 'Halted'),
  machine(13, 'Always'),
  workspace(17, 'Provisioning', false, 'DELETED'),
];
const without = (index: number, ...instead: Seen[]) =>
  good.toSpliced(index, 1, ...instead).sort((a, b) => a.atMs - b.atMs);
const violations = (changes: readonly Seen[], more: Partial<Week> = {}, concurrency = 1) =>
  judge({ labs: [lab], contents }, { seen: changes, left: [], steps: 0, ...more }, concurrency).violations;

test('a week as it should be has no violation', () => {
  expect(violations(good)).toEqual([]);
});

test.each<[string, readonly Seen[], RegExp]>([
  ['late, and no one was told', without(2, image(9.5)), /30 minutes late, and no one was told/],
  [
    'late, though it was reported on time after all',
    [workspace(1, 'Scheduled', true), workspace(2, 'Scheduled'), ...without(2, image(9.5)).slice(1)],
    /no one was told/,
  ],
  ['never Ready', without(4), /never Ready/],
  ['Ready too early', without(4, workspace(8.9, 'Ready')), /Ready before its start/],
  ['never gone', without(7), /was to be gone at hour 17/],
  ['gone too early', without(7, workspace(16, 'Ready', false, 'DELETED')), /was to be gone/],
  ['not asleep', without(5), /did not sleep/],
  ['not woken', without(6), /did not sleep/],
  ['downloaded twice', [...good, importer(8.2)].sort((a, b) => a.atMs - b.atMs), /20 bytes were downloaded of 10/],
])('it finds a lab that is %s', (_, changes, violation) => {
  expect(violations(changes).join()).toMatch(violation);
});

test('it believes a workspace that was reported late', () => {
  expect(
    violations(
      without(0, workspace(0, 'Scheduled', true))
        .map((one) => (one === good[2] ? image(9.5) : one))
        .sort((a, b) => a.atMs - b.atMs),
    ),
  ).toEqual([]);
});

test('it finds what is left over, and too many downloads at once', () => {
  expect(violations(good, { left: ['/pods one'] })).toEqual(['/pods one was left over']);
  expect(violations([...good, importer(8.2)], {}, 1).join()).toContain('2 downloads ran at once');
});
