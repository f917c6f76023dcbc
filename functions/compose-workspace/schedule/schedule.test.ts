import { describe, expect, test } from 'vitest';
import type { Action } from '../../../shared/actions.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace, type WorkspaceStatus } from '../../../shared/kinds/pelotech/workspace.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { allowedSources, at, aVMDiskImage, start } from '../../../test/support/builders/images.ts';
import { aMachineOf, aWorkspace } from '../../../test/support/builders/workspaces.ts';
import { memoryKube } from '../../../test/support/harness/memory-kube.ts';
import { decide } from '../decide.ts';
import { audit } from '../gather.ts';
import type { Observed } from '../observed.ts';
import { leadOf, usableAtMs } from './forecast.ts';

const minute = 60_000;
const hour = 60 * minute;
const forecast = { count: 10, downloadMs: 10 * minute, longMs: 10 * minute, snapshotMs: minute };
const policy = (data: Record<string, string> = {}) =>
  parsePolicy({ data: { allowedSources, concurrency: '2', ...data } });

test('an audit takes many workspaces that are to start later at once, as each reconcile of them reads all bookings', async () => {
  const kube = memoryKube();
  const create = (name: string, schedule?: { startAt: string }) =>
    kube.create(Workspace, aWorkspace({ name, spec: schedule ? { schedule } : {} }));
  for (let index = 0; index < 25; index++) {
    await create(`later-${index}`, { startAt: at(3600) });
    await create(`now-${index}`);
  }
  const rows = await Array.fromAsync(audit({ kube, nowMs: start }));
  expect(rows.map((row) => row.length)).toEqual([10, 10, 5, 25]);
  expect(rows.at(-1)?.every(({ name }) => name.startsWith('later-'))).toBe(true);
});

describe('when an image may be usable', () => {
  const minutes = (status: VMDiskImageStatus, given: object = {}) =>
    ((usableAtMs(aVMDiskImage({ status }), { ...forecast, ...given }, start + hour) ?? Number.NaN) - start - hour) /
    minute;
  test.each<[string, VMDiskImageStatus, number, object?]>([
    ['usable', { phase: 'Succeeded' }, 0],
    ['new', {}, 11],
    ['queued', { phase: 'Queued' }, 11],
    ['queued behind others', { phase: 'Queued', startsAbout: at(3600 + 1200) }, 31],
    ['queued since the last audit', { phase: 'Queued' }, 41, { startsAt: at(3600 + 1800) }],
    ['retried later', { phase: 'Retrying', nextAttemptAt: at(3600 + 300) }, 16],
    ['downloading as long as the others do', { phase: 'Syncing', startedAt: at(3600 - 240) }, 7],
    ['half downloaded in four minutes', { phase: 'Syncing', startedAt: at(3600 - 240), progress: '50.00%' }, 5],
    ['downloading for longer than the others', { phase: 'Syncing', startedAt: at(3600 - 1200) }, 6],
    ['downloaded', { phase: 'Snapshotting', snapshottingAt: at(3600 - 30) }, 0.5],
    ['failed', { phase: 'Failed' }, Number.POSITIVE_INFINITY],
  ])('one that is %s', (_, status, expected, given) => {
    expect(minutes(status, given)).toBe(expected);
  });
  test('nothing tells of one that is under way before any download is done', () => {
    expect(usableAtMs(aVMDiskImage({ status: { phase: 'Syncing' } }), undefined, start)).toBeUndefined();
  });
});

describe('how long before the start images are requested', () => {
  const request = { name: 'lab', startsAtMs: start + 24 * hour, missing: ['a'] };
  const others = (count: number, startsAtMs: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `a${index}`, startsAtMs, images: [`image-${index}`] }));
  const lead = (booked: Parameters<typeof leadOf>[1], missing = ['a'], data = {}) =>
    leadOf({ ...request, missing }, booked, { forecast, policy: policy(data), nowMs: start }).leadMs / minute;
  test.each([
    ['half again as long as one takes', lead([]), 16.5],
    ['longer for more images than slots', lead([], ['a', 'b', 'c']), 31.5],
    ['longer behind workspaces that start at the same time and come before', lead(others(4, request.startsAtMs)), 46.5],
    ['not for images that both want', lead([{ name: 'a', startsAtMs: request.startsAtMs, images: ['a'] }]), 16.5],
    ['not for those that start later', lead(others(9, request.startsAtMs + 1)), 16.5],
    ['not for those that start so early that they are done', lead(others(9, start + 22 * hour)), 16.5],
    ['longer with the slots of one namespace', lead([], ['a', 'b'], { slotsPerNamespace: '1' }), 31.5],
    [
      'longer where downloads differ',
      leadOf(request, [], { forecast: { ...forecast, longMs: 20 * minute }, policy: policy(), nowMs: start }).leadMs /
        minute,
      31.5,
    ],
    [
      'at least an hour while few downloads tell',
      leadOf(request, [], { forecast: { ...forecast, count: 9 }, policy: policy(), nowMs: start }).leadMs / minute,
      60,
    ],
    ['as with one slot while the queue is paused', lead([], ['a', 'b'], { concurrency: '0' }), 31.5],
  ])('%s', (_, found, expected) => {
    expect(found).toBe(expected);
  });
});

describe('a workspace that starts at nine', () => {
  const spec = {
    vms: [aMachineOf({ vmDiskImageTemplate: aVMDiskImage().spec })],
    schedule: { startAt: '2026-01-01T09:00:00Z' },
  };
  const image = (status: VMDiskImageStatus) => aVMDiskImage({ name: 'ubuntu', namespace: 'vmdi-farm', status });
  const seen = (atMinute: number, found?: VMDiskImage, more: Partial<Observed> = {}): Observed => ({
    nowMs: start + 8 * hour + atMinute * minute,
    policy: policy(),
    refusals: new Map(),
    workspace: aWorkspace({ spec }),
    namespace: undefined,
    roleBinding: undefined,
    inside: undefined,
    outside: { isServed: true, vpc: undefined, subnets: [] },
    images: new Map(found ? [['vmdi-farm/ubuntu', found]] : []),
    imageNamespaces: new Map([['vmdi-farm', Namespace.parse({ metadata: { name: 'vmdi-farm' } })]]),
    queue: { forecast, stopped: undefined, booked: [] },
    ...more,
  });
  const creates = (actions: readonly Action[]) =>
    actions.flatMap((action) => (action.do === 'create' ? [action.resource.kind] : []));
  const told = (actions: readonly Action[]) =>
    actions.flatMap((action) => (action.do === 'recordEvent' ? [action.reason] : []));
  const statusIn = (actions: readonly Action[]) =>
    Object.assign(
      {},
      ...actions.flatMap((action) => (action.do === 'patchStatus' ? [action.status] : [])),
    ) as WorkspaceStatus;
  const late = (actions: readonly Action[]) => conditionOf(statusIn(actions).conditions, 'WillBeLate')?.reason;

  test('has nothing made, and says what it waits for', () => {
    const before = decide(seen(39));
    expect(creates(before)).toEqual([]);
    expect(statusIn(before)).toMatchObject({
      phase: 'Scheduled',
      message: 'Its images are requested at 08:40 UTC, the rest is made at 09:00 UTC.',
      nextAt: '2026-01-01T08:40:00Z',
    });
    expect(conditionOf(statusIn(before).conditions, 'Reconciling')).toBeUndefined();
    expect(late(before)).toBe('OnTime');
  });
  test('has its images requested by their time, and nothing else', () => {
    expect(creates(decide(seen(40)))).toEqual(['VMDiskImage']);
    const syncing = decide(seen(45, image({ phase: 'Syncing', startedAt: at(8 * 3600 + 2400) })));
    expect(creates(syncing)).toEqual([]);
    expect(statusIn(syncing)).toMatchObject({
      phase: 'Scheduled',
      nextAt: '2026-01-01T09:00:00Z',
      message:
        'VMDiskImage ubuntu: Syncing in namespace vmdi-farm. When its images are ready, the rest is made at 09:00 UTC.',
    });
    expect(late(syncing)).toBe('OnTime');
  });
  test('has the rest made then', () => {
    const ready = image({ phase: 'Succeeded' });
    expect(statusIn(decide(seen(59, ready))).message).toBe('Its images are ready, the rest is made at 09:00 UTC.');
    expect(creates(decide(seen(60, ready)))).toContain('Namespace');
  });
  test('requests its images an hour before while nothing tells how long they take', () => {
    const unknown = { queue: { forecast: undefined, stopped: undefined, booked: [] } };
    expect(creates(decide(seen(-1, undefined, unknown)))).toEqual([]);
    const requested = decide(seen(0, undefined, unknown));
    expect(creates(requested)).toEqual(['VMDiskImage']);
    expect(late(requested)).toBeUndefined();
  });
  test.each<[string, Observed, string | undefined]>([
    ['by its forecast', seen(52), 'WillBeLate'],
    ['by a download that does not end', seen(59, image({ phase: 'Syncing', startedAt: at(8 * 3600) })), 'WillBeLate'],
    ['by an image that has failed', seen(0, image({ phase: 'Failed', message: 'It is no image.' })), 'WillBeLate'],
    [
      'because nothing starts',
      seen(50, image({ phase: 'Queued' }), { queue: { forecast, stopped: 'the queue is paused', booked: [] } }),
      'WillBeLate',
    ],
    [
      'not while the queue is paused long before',
      seen(0, undefined, { queue: { forecast, stopped: 'x', booked: [] } }),
      'OnTime',
    ],
    ['when it is', seen(61, image({ phase: 'Queued' })), 'Late'],
    ['no more when its images are ready', seen(61, image({ phase: 'Succeeded' })), undefined],
  ])('is late %s', (_, observed, reason) => {
    const actions = decide(observed);
    expect(late(actions)).toBe(reason);
    const { phase, message, conditions } = statusIn(actions);
    const isSaid = phase === 'Scheduled' && reason === 'WillBeLate';
    if (isSaid) expect(conditionOf(conditions, 'Ready')).toMatchObject({ reason, message });
    if (isSaid) expect(message).toContain('its start at 09:00 UTC');
    expect(told(actions).filter((one) => one === 'WillBeLate' || one === 'Late')).toEqual(
      reason === 'WillBeLate' || reason === 'Late' ? [reason] : [],
    );
  });
});
