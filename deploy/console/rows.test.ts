import { describe, expect, test } from 'vitest';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { aHolder, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { aWorkspace } from '../../test/support/builders/workspaces.ts';
import { type EventSeen, imageRows, machineRows, prunedRows, serverRows, workspaceRows } from './rows.ts';

const seen = (images: ReturnType<typeof aVMDiskImage>[], data: Record<string, string> = {}) => ({
  nowMs: start + 100_000,
  images,
  configMap: { data },
  policy: parsePolicy({ data }),
  holders: [],
});

describe('what is being deleted', () => {
  const held = {
    type: 'DeletionHeld',
    status: 'True' as const,
    reason: 'UsedByMachines',
    message: 'Used by lab/demo.',
    lastTransitionTime: at(0),
  };

  test('is Terminating, and an image that is still used says by whom', () => {
    const status = { phase: 'Succeeded', message: 'Ready to clone.' } as const;
    const shown = (conditions: (typeof held)[]) => {
      const image = aVMDiskImage({ deleted: true, status: { ...status, conditions } });
      return Object.values(imageRows(seen([image])).images)[0];
    };
    expect(shown([held])).toMatchObject({ phase: 'Terminating', message: 'Used by lab/demo.' });
    expect(shown([])).toMatchObject({ phase: 'Terminating', message: 'It is being deleted.' });
  });

  test('a machine is Terminating, too', () => {
    const { metadata, ...machine } = aVirtualMachine({ status: { phase: 'Ready', message: 'The machine runs.' } });
    const leaving = { ...machine, metadata: { ...metadata, deletionTimestamp: at(9) } };
    expect(Object.values(machineRows([leaving]))).toMatchObject([
      { phase: 'Terminating', message: 'It is being deleted.' },
    ]);
  });
});

describe('images', () => {
  const queued = (name: string, seconds: number) =>
    aVMDiskImage({ name, uid: name, status: { phase: 'Queued', queuedAt: at(seconds) } });

  test('that wait have the place that start-sync gives them: by their time, then by their uid', () => {
    const { images, cluster } = imageRows(seen([queued('late', 9), queued('b', 3), queued('a', 3)]));
    expect(cluster.queue.map((key) => key.split('/')[1])).toEqual(['a', 'b', 'late']);
    expect(Object.values(images).map(({ name, place }) => [name, place])).toEqual([
      ['late', 3],
      ['b', 2],
      ['a', 1],
    ]);
  });

  test('have a forecast once a download is done, which says what it is made of', () => {
    const waiting = queued('waiting', 3);
    expect(imageRows(seen([waiting])).cluster.basis).toBeUndefined();
    const done = aVMDiskImage({
      name: 'done',
      uid: 'done',
      status: { phase: 'Succeeded', startedAt: at(0), snapshottingAt: at(60), completedAt: at(70) },
    });
    const syncing = aVMDiskImage({ name: 'syncing', uid: 'syncing', status: { phase: 'Syncing', progress: '50.00%' } });
    const holders = [{ ...aHolder(syncing), since: at(80) }];
    const { cluster, images } = imageRows({ ...seen([done, syncing, waiting], { concurrency: '1' }), holders });
    expect(cluster.basis).toEqual({ downloads: 1, medianMs: 60_000 });
    expect(Object.values(images).find(({ name }) => name === 'waiting')?.startsAtMs).toBe(start + 120_000);
  });

  test('are foretold nothing while nothing starts: the policy or the Lease cannot be read', () => {
    const waiting = queued('waiting', 3);
    const startsIn = (found: ReturnType<typeof imageRows>) =>
      Object.values(found.images).find(({ name }) => name === 'waiting')?.startsAtMs;
    expect(startsIn(imageRows(seen([waiting])))).toBe(0);
    expect(startsIn(imageRows(seen([waiting], { concurrency: 'many' })))).toBeUndefined();
    expect(startsIn(imageRows({ ...seen([waiting]), holders: undefined }))).toBeUndefined();
  });

  test('that still hold a slot are not in the line: those behind them have the place that start-sync gives them', () => {
    const again = queued('again', 1);
    const found = imageRows({ ...seen([again, queued('next', 3)]), holders: [aHolder(again)] });
    expect(found.cluster.queue.map((key) => key.split('/')[1])).toEqual(['next']);
    expect(Object.values(found.images).map(({ name, place }) => [name, place])).toEqual([
      ['again', undefined],
      ['next', 1],
    ]);
  });

  test('are the same a moment later, when nothing has changed but the time', () => {
    const done = aVMDiskImage({
      name: 'done',
      uid: 'done',
      status: { phase: 'Succeeded', startedAt: at(0), snapshottingAt: at(60) },
    });
    const syncing = aVMDiskImage({ name: 'syncing', uid: 'syncing', status: { phase: 'Syncing', progress: '40.00%' } });
    const images = [done, syncing, queued('a', 1), queued('b', 2), queued('c', 3)];
    const of = (nowMs: number, concurrency: string) =>
      imageRows({ ...seen(images, { concurrency }), holders: [{ ...aHolder(syncing), since: at(80) }], nowMs }).images;
    for (const concurrency of ['1', '2']) {
      expect(of(start + 100_250, concurrency)).toEqual(of(start + 100_000, concurrency));
    }
  });

  test('without a status are shown as not seen yet', () => {
    const image = { ...aVMDiskImage({ name: 'new' }), status: undefined };
    expect(Object.values(imageRows(seen([image])).images)).toMatchObject([{ phase: '', message: '', usedBy: 0 }]);
  });
});

describe('the policy', () => {
  const of = (data: Record<string, string>) => imageRows(seen([], data)).cluster.policy;

  test('says how many of its keys cannot be read', () => {
    expect(imageRows(seen([], { retryLimit: 'x', strange: '1' })).cluster.faults).toBe(2);
  });
  const rowOf = (data: Record<string, string>, key: string) => of(data).find((row) => row.key === key);

  test('is shown key by key, with defaults as a user would write them', () => {
    expect(rowOf({}, 'syncTimeout')).toEqual({ key: 'syncTimeout', value: '4h', isSet: false, fault: undefined });
    expect(rowOf({ concurrency: '7' }, 'concurrency')).toMatchObject({ value: '7', isSet: true });
  });
  test('says what is wrong with a key, and which keys are unknown', () => {
    expect(rowOf({ prune: 'Maybe' }, 'prune')?.fault).toContain('expected Never, DryRun, WhenUnreferenced');
    expect(rowOf({ concurency: '7' }, 'concurency')?.fault).toContain('no key of the policy');
  });
});

test('machines and workspaces show what their status says, and nothing of their spec that may hold a password', () => {
  const machine = aVirtualMachine({ name: 'vm' });
  expect(Object.keys(Object.values(machineRows([machine]))[0] ?? {}).sort()).toEqual(
    ['createdAt', 'image', 'ipAddress', 'message', 'name', 'namespace', 'node', 'phase'].sort(),
  );
  expect(Object.keys(Object.values(workspaceRows([aWorkspace()]))[0] ?? {}).sort()).toEqual(
    ['components', 'createdAt', 'message', 'name', 'phase', 'ready'].sort(),
  );
});

test('a machine on OpenStack shows its networks with addresses once it has some, else those it asks for', () => {
  const spec = { virtualNetworks: ['net', 'dmz'], diskAttachments: [{ name: 'root' }, { name: 'data' }] };
  const rowOf = (status?: object) =>
    Object.values(
      serverRows([{ ...aVirtualMachine({ name: 'web' }), spec, status } as unknown as KupenStackMachine]),
    )[0];
  expect(rowOf()).toMatchObject({ phase: '', networks: 'net, dmz', volumes: ['root', 'data'], restarts: 0 });
  expect(rowOf({ phase: 'Running', ip: 'net(10.0.0.3)', restartCount: 2, node: 'host-1' })).toMatchObject({
    phase: 'Running',
    networks: 'net(10.0.0.3)',
    restarts: 2,
    node: 'host-1',
  });
});

test('of all Events those are shown that say what prune deleted', () => {
  const event = (reason: string): EventSeen => ({
    metadata: { uid: reason, creationTimestamp: at(0) },
    reason,
    message: 'why',
    involvedObject: { kind: 'VMDiskImage', namespace: 'lab', name: 'old' },
    lastTimestamp: at(5),
  });
  expect(prunedRows([event('Pruned'), event('Failed')])).toEqual({
    Pruned: { namespace: 'lab', name: 'old', time: at(5), why: 'why' },
  });
});
