import { describe, expect, test } from 'vitest';
import { egressAnnotation } from '../../shared/images/egress.ts';
import type { Holder } from '../../shared/images/slots.ts';
import type { Lease } from '../../shared/kinds/coordination/lease.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { phases, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { type KubernetesObject, keyOf } from '../../shared/kinds/resource.ts';
import { aHolder, aLease, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { aClusterOf, aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import type { KubernetesEvent } from '../cli/kubernetes-event.ts';
import { nothing, treeOf } from '../cli/status-tree.ts';
import { viewOf } from './rows.ts';
import type { ClusterRow } from './view.ts';

const byKey = <T extends KubernetesObject>(objects: readonly T[]) =>
  new Map(objects.map((object) => [keyOf(object.metadata), object]));

interface Read {
  images?: readonly VMDiskImage[];
  machines?: readonly VirtualMachine[];
  servers?: readonly KupenStackMachine[];
  workspaces?: readonly Workspace[];
  /** undefined is a Lease that does not parse. */
  holders?: readonly Holder[] | undefined;
  annotations?: Record<string, string>;
  data?: Record<string, string>;
  events?: readonly KubernetesEvent[];
  nowMs?: number;
}

const withAnnotations = ({ metadata, ...lease }: Lease, annotations: Record<string, string> = {}): Lease => ({
  ...lease,
  metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
});

const seen = (read: Read) => ({
  nowMs: read.nowMs ?? start + 100_000,
  images: byKey(read.images ?? []),
  machines: byKey(read.machines ?? []),
  servers: byKey(read.servers ?? []),
  workspaces: byKey(read.workspaces ?? []),
  configMap: { data: read.data ?? {} },
  lease: withAnnotations(aLease('holders' in read ? (read.holders ?? 'broken') : []), read.annotations),
  events: read.events ?? [],
});

const viewed = (read: Read) => {
  const { cluster, ...rows } = viewOf(seen(read));
  return { ...rows, cluster: cluster.cluster as ClusterRow };
};

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
      return Object.values(viewed({ images: [image] }).images)[0];
    };
    expect(shown([held])).toMatchObject({ phase: 'Terminating', message: 'Used by lab/demo.' });
    expect(shown([])).toMatchObject({ phase: 'Terminating', message: 'It is being deleted.' });
  });

  test('a machine is Terminating, too', () => {
    const { metadata, ...machine } = aVirtualMachine({ status: { phase: 'Ready', message: 'The machine runs.' } });
    const leaving = { ...machine, metadata: { ...metadata, deletionTimestamp: at(9) } };
    expect(Object.values(viewed({ machines: [leaving] }).machines)).toMatchObject([
      { phase: 'Terminating', message: 'It is being deleted.' },
    ]);
  });
});

describe('images', () => {
  const queued = (name: string, seconds: number) =>
    aVMDiskImage({ name, uid: name, status: { phase: 'Queued', queuedAt: at(seconds) } });

  test('that wait have the place that start-sync gives them: by their time, then by their uid', () => {
    const { images, cluster } = viewed({ images: [queued('late', 9), queued('b', 3), queued('a', 3)] });
    expect(cluster.queue.map((key) => key.split('/')[1])).toEqual(['a', 'b', 'late']);
    expect(Object.values(images).map(({ name, place }) => [name, place])).toEqual([
      ['late', 3],
      ['b', 2],
      ['a', 1],
    ]);
  });

  test('have a forecast once a download is done, which says what it is made of', () => {
    const waiting = queued('waiting', 3);
    expect(viewed({ images: [waiting] }).cluster.basis).toBeUndefined();
    const done = aVMDiskImage({
      name: 'done',
      uid: 'done',
      status: { phase: 'Succeeded', startedAt: at(0), snapshottingAt: at(60), completedAt: at(70) },
    });
    const syncing = aVMDiskImage({ name: 'syncing', uid: 'syncing', status: { phase: 'Syncing', progress: '50.00%' } });
    const holders = [{ ...aHolder(syncing), since: at(80) }];
    const { cluster, images } = viewed({
      images: [done, syncing, waiting],
      data: { concurrency: '1' },
      holders,
    });
    expect(cluster.basis).toEqual({ downloads: 1, medianMs: 60_000 });
    expect(Object.values(images).find(({ name }) => name === 'waiting')?.startsAtMs).toBe(start + 120_000);
  });

  test('are foretold nothing while nothing starts: the policy or the Lease cannot be read', () => {
    const waiting = queued('waiting', 3);
    const startsIn = (found: ReturnType<typeof viewed>) =>
      Object.values(found.images).find(({ name }) => name === 'waiting')?.startsAtMs;
    expect(startsIn(viewed({ images: [waiting] }))).toBe(0);
    expect(startsIn(viewed({ images: [waiting], data: { concurrency: 'many' } }))).toBeUndefined();
    expect(startsIn(viewed({ images: [waiting], holders: undefined }))).toBeUndefined();
  });

  test('that still hold a slot are not in the line: those behind them have the place that start-sync gives them', () => {
    const again = queued('again', 1);
    const found = viewed({ images: [again, queued('next', 3)], holders: [aHolder(again)] });
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
      viewed({ images, data: { concurrency }, holders: [{ ...aHolder(syncing), since: at(80) }], nowMs }).images;
    for (const concurrency of ['1', '2']) {
      expect(of(start + 100_250, concurrency)).toEqual(of(start + 100_000, concurrency));
    }
  });

  test('without a status are shown as not seen yet', () => {
    const image = { ...aVMDiskImage({ name: 'new' }), status: undefined };
    expect(Object.values(viewed({ images: [image] }).images)).toMatchObject([
      { phase: '', state: 'under way', message: 'No function has reconciled it yet.', usedBy: 0 },
    ]);
  });
});

describe('the policy', () => {
  const of = (data: Record<string, string>) => viewed({ data }).cluster.policy;

  test('says how many of its keys cannot be read', () => {
    expect(viewed({ data: { retryLimit: 'x', strange: '1' } }).cluster.faults).toBe(2);
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
  expect(Object.keys(viewed({ machines: [machine] }).machines[keyOf(machine.metadata)] ?? {}).sort()).toEqual(
    ['cause', 'createdAt', 'image', 'ipAddress', 'message', 'name', 'namespace', 'node', 'phase', 'state'].sort(),
  );
  const interfaces = [{ network: 'campus', ipAddress: '10.10.0.5/24' }];
  const users = [{ name: 'student', passwordRef: { name: 'secret-of-student' } }];
  const spec = {
    networks: [{ name: 'campus', cidr: '10.10.0.0/24' }],
    vms: [aMachineOf({ name: 'web', interfaces, users } as never)],
    containerClusters: [aClusterOf({ name: 'dns' })],
  };
  const row = viewed({ workspaces: [aWorkspace({ spec } as never)] }).workspaces.lab;
  expect(row).toMatchObject({
    networks: spec.networks,
    members: [
      { kind: 'VirtualMachine', name: 'web', interfaces: [{ network: 'campus', address: '10.10.0.5/24' }] },
      { kind: 'ContainerCluster', name: 'dns', interfaces: [] },
    ],
  });
  expect(JSON.stringify(row)).not.toContain('student');
});

test('a machine on OpenStack shows its networks with addresses once it has some, else those it asks for', () => {
  const spec = { virtualNetworks: ['net', 'dmz'], diskAttachments: [{ name: 'root' }, { name: 'data' }] };
  const rowOf = (status?: object) =>
    Object.values(
      viewed({
        servers: [
          {
            ...aVirtualMachine({ name: 'web' }),
            apiVersion: 'kupenstack.io/v1alpha1',
            spec,
            status,
          } as unknown as KupenStackMachine,
        ],
      }).servers,
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
  const event = (reason: string): KubernetesEvent => ({
    metadata: { uid: reason, creationTimestamp: at(0) },
    reason,
    message: 'why',
    involvedObject: { kind: 'VMDiskImage', namespace: 'lab', name: 'old' },
    lastTimestamp: at(5),
  });
  expect(viewed({ events: [event('Pruned'), event('Failed')] }).pruned).toEqual({
    Pruned: { namespace: 'lab', name: 'old', time: at(5), why: 'why' },
  });
});

test('an image that prune deleted and a machine holds is not among the deleted ones: it says who holds it', () => {
  const held = {
    ...{ type: 'DeletionHeld', status: 'True' as const, reason: 'UsedByMachines', message: 'Used by lab/demo.' },
    lastTransitionTime: at(0),
  };
  const image = aVMDiskImage({ deleted: true, status: { phase: 'Succeeded', conditions: [held] } });
  const { namespace = '', name, uid } = image.metadata;
  const event = {
    metadata: { uid: 'event', creationTimestamp: at(0) },
    reason: 'Pruned',
    message: 'No machine has used the image: deleted.',
    involvedObject: { kind: 'VMDiskImage', namespace, name, uid },
  };
  const { pruned, images } = viewed({ images: [image], events: [event] });
  expect(pruned).toEqual({});
  expect(images[keyOf(image.metadata)]).toMatchObject({
    phase: 'Terminating',
    message: 'Used by lab/demo.',
    cause: { section: 'images', key: keyOf(image.metadata) },
  });
  expect(Object.keys(viewed({ events: [event] }).pruned)).toEqual(['event']);
});

describe('what is wrong', () => {
  const failed = aVMDiskImage({ name: 'ubuntu', status: { phase: 'Failed', message: 'The object does not exist.' } });
  const key = keyOf(failed.metadata);
  const condition = { type: 'ImageReady', status: 'False' as const, reason: 'ImageFailed', message: '' };
  const machine = aVirtualMachine({
    name: 'vm',
    status: { phase: 'Provisioning', conditions: [{ ...condition, lastTransitionTime: at(0) }] },
  });

  test('has its first cause as ot-functions why finds it: a machine that waits for an image that failed names the image', () => {
    const { images, machines } = viewed({ images: [failed], machines: [machine] });
    expect(images[key]?.cause).toEqual({ section: 'images', key });
    expect(Object.values(machines)[0]?.cause).toEqual({ section: 'images', key });
  });

  test('is a download that cannot start, which looks like one under way', () => {
    const message = 'Waiting for the importer, attempt 1. ErrImagePull: no such image.';
    const blocked = (reason: string) =>
      viewed({
        images: [
          aVMDiskImage({
            name: 'ubuntu',
            status: {
              phase: 'Syncing',
              message,
              conditions: [{ ...condition, type: 'Ready', reason, message, lastTransitionTime: at(0) }],
            },
          }),
        ],
      }).images[key];
    expect(blocked('SyncBlocked')).toMatchObject({ cause: { section: 'images', key }, message });
    expect(blocked('SyncStarted')?.cause).toBeUndefined();
  });

  test('is not what only takes its time', () => {
    const waiting = aVMDiskImage({ name: 'ubuntu', status: { phase: 'Queued', queuedAt: at(1) } });
    const { images, machines } = viewed({ images: [waiting], machines: [machine] });
    expect([images[key]?.cause, Object.values(machines)[0]?.cause]).toEqual([undefined, undefined]);
  });

  test('with the whole queue is written once, and by each image that waits, in the words of ot-functions status', () => {
    const waiting = aVMDiskImage({
      name: 'ubuntu',
      status: { phase: 'Queued', message: 'It waits.', queuedAt: at(1) },
    });
    const { cluster, images } = viewed({ images: [waiting], data: { concurrency: '0' } });
    const tree = treeOf({ ...nothing, images: [waiting], stopped: cluster.stopped });
    expect(cluster.stopped?.command).toBe('ot-functions resume');
    expect(images[key]?.message).toContain(cluster.stopped?.why);
    expect(images[key]?.message).toBe(tree[0]?.cause);
  });
});

test('phase, state and cause are those of ot-functions status, in every state', () => {
  const finding = (type: string, reason: string, message: string) => ({
    ...{ type, status: 'True' as const, reason, message, lastTransitionTime: at(0) },
  });
  const message = 'Its message.';
  const images = [
    aVMDiskImage({ name: 'new' }),
    ...phases.map((phase) => aVMDiskImage({ name: phase.toLowerCase(), status: { phase, message } })),
    aVMDiskImage({ name: 'deleted', deleted: true, status: { phase: 'Succeeded', message } }),
    aVMDiskImage({
      ...{ name: 'held', deleted: true },
      status: {
        phase: 'Succeeded',
        message,
        conditions: [finding('DeletionHeld', 'UsedByMachines', 'Used by lab/vm.')],
      },
    }),
    aVMDiskImage({ name: 'of-another-version', status: { phase: 'Unpacking', message } }),
  ];
  const machines = (['Pending', 'Provisioning', 'Ready', 'Failed'] as const).map((phase) =>
    aVirtualMachine({ name: phase.toLowerCase(), status: { phase, message } as never }),
  );
  const workspaces = (['Provisioning', 'Failed', 'Ready'] as const).map((phase) =>
    aWorkspace({ name: phase.toLowerCase(), status: { phase, message } }),
  );
  const view = viewed({ images, machines, workspaces });
  const sections = { VMDiskImage: view.images, VirtualMachine: view.machines, Workspace: view.workspaces };
  const nodes = treeOf({ ...nothing, images, machines, workspaces });
  expect(nodes).toHaveLength(images.length + machines.length + workspaces.length);
  for (const { kind, namespace, name, phase, state, cause } of nodes) {
    const row = sections[kind as keyof typeof sections][keyOf({ ...(namespace ? { namespace } : {}), name })];
    expect({ name, phase: row?.phase, state: row?.state, cause: state === 'Ready' ? '' : row?.message }).toEqual({
      ...{ name, phase, state, cause },
    });
  }
});

test('costs are those that the Lease counted, and what the budget leaves', () => {
  const egress = { [at(0).slice(0, 10)]: { lab: 2 ** 30 } };
  const annotations = { [egressAnnotation]: JSON.stringify(egress) };
  const data = { egressBudget: '3Gi/30d', egressPricePerGiB: '0.09' };
  expect(viewed({ annotations, data }).cluster).toMatchObject({
    egress,
    pricePerGiB: 0.09,
    budget: { days: 30, left: 2 * 2 ** 30 },
  });
});
