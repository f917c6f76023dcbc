import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Event } from '../../../shared/kinds/core/event.ts';
import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { type Recording, type TestCluster, testCluster } from '../cdi/test-cluster.ts';
import { type SteppedClock, steppedClock } from '../clock.ts';
import { Claim } from '../controller/kinds.ts';
import type { Running } from '../controller/simulator.ts';
import type { SnapshotFaultRule } from './faults.ts';
import { finalizer, snapshotAnnotation, VolumeSnapshot, VolumeSnapshotContent } from './kinds.ts';
import { startSnapshotter } from './start-snapshotter.ts';

const at = { namespace: 'default', name: 'lab' };
const cutMs = 1000;
const readyMs = 3000;

let clock: SteppedClock;
let cluster: TestCluster;
let snapshotter: Running;
let snapshots: Recording<VolumeSnapshot>;
let contents: Recording<VolumeSnapshotContent>;

beforeEach(async () => {
  clock = steppedClock();
  cluster = await testCluster(clock);
  snapshots = await cluster.record(VolumeSnapshot);
  contents = await cluster.record(VolumeSnapshotContent);
});

afterEach(async () => {
  await snapshotter.stop();
  await cluster.close();
});

const start = (faults: SnapshotFaultRule[] = []) => {
  snapshotter = startSnapshotter({ kube: cluster.kube, clock, cutMs, readyMs, contentMs: 0, faults });
};

const aClass = (name: string, more: object = {}) =>
  cluster.kube.create(VolumeSnapshotClass, {
    metadata: { name },
    driver: 'ebs.csi.aws.com',
    deletionPolicy: 'Delete',
    ...more,
  });

async function aClaim(phase: string, storage = '24Gi') {
  await cluster.kube.create(Claim, {
    metadata: { ...at },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'gp3',
      volumeName: 'pvc-1',
      resources: { requests: { storage } },
    },
  });
  await cluster.kube.patch(Claim, at, { status: { phase, capacity: { storage } } }, { subresource: 'status' });
}

const take = (volumeSnapshotClassName: string | undefined = 'ebs-snapshot', name = 'lab') =>
  cluster.kube.create(VolumeSnapshot, {
    metadata: { namespace: 'default', name },
    spec: {
      source: { persistentVolumeClaimName: 'lab' },
      ...(volumeSnapshotClassName ? { volumeSnapshotClassName } : {}),
    },
  });

/** Takes a snapshot of a bound claim, where the snapshotter has these faults. */
async function takeOfBound(faults?: Parameters<typeof start>[0], ofClass?: Parameters<typeof aClass>[1]) {
  start(faults);
  await aClass('ebs-snapshot', ofClass);
  await aClaim('Bound');
  await take();
}

const isBeingCut = ({ metadata }: VolumeSnapshotContent) =>
  metadata.annotations?.[snapshotAnnotation.beingCreated] === 'yes';
const isCut = ({ status }: VolumeSnapshot) => status?.creationTime !== undefined;
const isReady = ({ status }: VolumeSnapshot) => status?.readyToUse === true;

async function cut() {
  await contents.until(isBeingCut);
  clock.step(cutMs);
  await snapshots.until(isCut);
}

async function takeToReady() {
  await cut();
  clock.step(readyMs);
  return snapshots.until(isReady);
}

describe('a snapshot', () => {
  test('is bound, then cut, then ready, each at its time, with the size of the claim', async () => {
    start();
    await aClass('ebs-snapshot');
    await aClaim('Bound', '25769803776');
    await take();
    await cut();
    clock.step(readyMs - 1);
    expect(snapshots.events.some(({ object }) => isReady(object))).toBe(false);
    clock.step(1);
    const ready = await snapshots.until(isReady);
    expect(ready.status).toEqual({
      boundVolumeSnapshotContentName: `snapcontent-${ready.metadata.uid}`,
      readyToUse: true,
      creationTime: '2026-01-01T00:00:01Z',
      restoreSize: '24Gi',
    });
    expect(ready.metadata.finalizers).toEqual([finalizer.asSource, finalizer.bound]);
    await snapshotter.stop();
    expect((await cluster.events()).map(({ reason, message }) => `${reason} ${message}`).sort()).toEqual([
      'CreatingSnapshot Waiting for a snapshot default/lab to be created by the CSI driver.',
      'SnapshotCreated Snapshot default/lab was successfully created by the CSI driver.',
      'SnapshotReady Snapshot default/lab is ready to use.',
    ]);
  });

  test('holds its claim from the first moment until it is ready', async () => {
    start();
    const claims = await cluster.record(Claim);
    await aClass('ebs-snapshot');
    await aClaim('Bound');
    await take();
    await contents.until(isBeingCut);
    await cluster.kube.delete(Claim, at);
    await claims.until(
      ({ metadata }) => metadata.deletionTimestamp !== undefined && metadata.finalizers?.[0] === finalizer.claim,
    );
    await takeToReady();
    await claims.until((_, type) => type === 'DELETED');
  });

  test('gets the default class of its driver written into its spec', async () => {
    start();
    await aClass('ebs-snapshot', {
      metadata: { name: 'ebs-snapshot', annotations: { [snapshotAnnotation.isDefaultClass]: 'true' } },
    });
    await aClaim('Bound');
    await take('');
    await snapshots.until(({ spec }) => spec.volumeSnapshotClassName === 'ebs-snapshot');
    await takeToReady();
  });

  test('remembers how far the import into its volume was', async () => {
    start();
    await aClass('ebs-snapshot');
    await aClaim('Bound');
    const annotations = {
      'cdi.kubevirt.io/storage.pod.phase': 'Running',
      'cdi.kubevirt.io/storage.populator.progress': '45.00%',
    };
    await cluster.kube.patch(Claim, at, { metadata: { annotations } });
    await take();
    await takeToReady();
    const content = contents.events.at(-1)?.object;
    expect(content?.metadata.annotations?.[snapshotAnnotation.importWhenCut]).toBe('Running 45.00%');
  });
});

describe('an error is tried again after 1, 2, 4 … seconds', () => {
  const messageOf = ({ status }: VolumeSnapshot) => status?.error?.message ?? '';

  test('for a claim that is not bound, and being bound meanwhile does not shorten the wait', async () => {
    start();
    await aClass('ebs-snapshot');
    await aClaim('Pending');
    await take();
    const message =
      'Failed to create snapshot content with error failed to get input parameters to create snapshot lab: "the PVC lab is not yet bound to a PV, will not attempt to take a snapshot"';
    const first = await snapshots.until((snapshot) => messageOf(snapshot) === message);
    expect(first.status).toMatchObject({ readyToUse: false, error: { time: '2026-01-01T00:00:00Z' } });
    await cluster.kube.patch(Claim, at, { status: { phase: 'Bound' } }, { subresource: 'status' });
    clock.step(999);
    expect(contents.events).toEqual([]);
    clock.step(1);
    await takeToReady();
    expect(snapshots.events.at(-1)?.object.status?.error).toBeUndefined();
  });

  test('with the time of the error written again', async () => {
    start();
    await aClass('ebs-snapshot');
    await aClaim('Pending');
    await take();
    for (const [seconds, time] of [
      [0, '00:00:00'],
      [1, '00:00:01'],
      [2, '00:00:03'],
      [4, '00:00:07'],
    ] as const) {
      clock.step(seconds * 1000);
      await snapshots.until(({ status }) => status?.error?.time === `2026-01-01T${time}Z`);
    }
  });

  test('for a claim that does not exist', async () => {
    start();
    await aClass('ebs-snapshot');
    await take();
    await snapshots.until((snapshot) => messageOf(snapshot).endsWith('cannot get claim from snapshot'));
  });

  test('for a class that does not exist, without a word on readyToUse', async () => {
    start();
    await aClaim('Bound');
    await take();
    const failing = await snapshots.until((snapshot) => messageOf(snapshot) !== '');
    expect(messageOf(failing)).toBe(
      'Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "ebs-snapshot" not found',
    );
    expect(failing.status).not.toHaveProperty('readyToUse');
    await aClass('ebs-snapshot');
    clock.step(1000);
    await takeToReady();
  });

  test('of the driver: it stands in content and snapshot until the snapshot is ready', async () => {
    await takeOfBound([{ match: 'lab', mode: 'csiError', times: 2 }]);
    await snapshots.until((snapshot) =>
      messageOf(snapshot).startsWith(
        'Failed to create snapshot: failed to take snapshot of the volume vol-1: "rpc error: code = ',
      ),
    );
    clock.step(1000);
    await snapshots.until((snapshot) =>
      messageOf(snapshot).startsWith('Failed to check and update snapshot content: failed to take snapshot'),
    );
    clock.step(2000);
    const isCutWithError = await snapshots.until(isCut);
    expect(messageOf(isCutWithError)).not.toBe('');
    clock.step(readyMs);
    const ready = await snapshots.until(isReady);
    expect(ready.status?.error).toBeUndefined();
  });
});

describe('by a rule', () => {
  test.each([
    ['driverMismatch leaves the content without status', { mode: 'driverMismatch' }, 0],
    ['neverReady leaves a cut snapshot unready', { mode: 'neverReady' }, 2],
  ] as const)('%s for ever', async (_, fault, changes) => {
    await takeOfBound([{ match: 'lab', ...fault }]);
    await snapshots.until(({ metadata }) => metadata.finalizers?.includes(finalizer.bound) ?? false);
    if (changes > 0) await cut();
    clock.step(86_400_000);
    await cluster.kube.patch(VolumeSnapshot, at, { metadata: { labels: { seen: 'yes' } } });
    const last = await snapshots.until(({ metadata }) => metadata.labels?.seen === 'yes');
    expect(last.status?.readyToUse).toBe(false);
    expect(last.status?.creationTime !== undefined).toBe(changes > 0);
  });

  test('slowReady takes its own time', async () => {
    await takeOfBound([{ match: 'lab', mode: 'slowReady', readyMs: 600_000 }]);
    await cut();
    clock.step(599_999);
    expect(snapshots.events.some(({ object }) => isReady(object))).toBe(false);
    clock.step(1);
    await snapshots.until(isReady);
  });

  test('contentDeleted loses a ready snapshot', async () => {
    await takeOfBound([{ match: 'lab', mode: 'contentDeleted', afterMs: 5000 }]);
    const { metadata } = await takeToReady();
    await contents.until(({ status }) => status?.readyToUse === true);
    await cluster.kube.patch(VolumeSnapshot, at, { metadata: { labels: { ready: metadata.uid } } });
    clock.step(5000);
    const lost = await snapshots.until(({ status }) => status?.error?.message === 'VolumeSnapshotContent is missing');
    expect(lost.status?.readyToUse).toBe(false);
  });
});

describe('deletion', () => {
  test.each([
    ['Delete', 'takes the content first', []],
    ['Retain', 'leaves the content', [{ status: { readyToUse: true } }]],
  ])('with policy %s %s', async (deletionPolicy, _, left) => {
    await takeOfBound([], { deletionPolicy });
    await takeToReady();
    await cluster.kube.delete(VolumeSnapshot, at);
    await snapshots.until((_, type) => type === 'DELETED');
    expect(await cluster.kube.list(VolumeSnapshotContent)).toMatchObject(left);
  });

  test('waits while a claim is being restored from it', async () => {
    await takeOfBound();
    await takeToReady();
    const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'lab' };
    const restored = { namespace: 'default', name: 'restored' };
    const { apiVersion, kind } = Claim;
    await cluster.kube.create(Claim, {
      apiVersion,
      kind,
      metadata: restored,
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '24Gi' } }, dataSource },
    });
    const events = await cluster.record(Event);
    await cluster.kube.delete(VolumeSnapshot, at);
    await events.until((event) => (event as unknown as { reason: string }).reason === 'SnapshotDeletePending');
    await cluster.kube.patch(Claim, restored, { status: { phase: 'Bound' } }, { subresource: 'status' });
    const gone = snapshots.until((_, type) => type === 'DELETED').then(() => true);
    while (!(await Promise.race([gone, turn(false)]))) clock.step(1000);
  });

  test('in mid-cut lets go of the claim', async () => {
    start([{ match: 'lab', mode: 'neverReady' }]);
    const claims = await cluster.record(Claim);
    await aClass('ebs-snapshot');
    await aClaim('Bound');
    await take();
    await cut();
    await cluster.kube.delete(VolumeSnapshot, at);
    await snapshots.until((_, type) => type === 'DELETED');
    await claims.until(
      ({ metadata }) =>
        metadata.annotations === undefined && metadata.finalizers === undefined && claims.events.length > 2,
    );
  });
});
