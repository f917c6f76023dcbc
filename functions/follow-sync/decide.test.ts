import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { aDataVolume, anImporter, aSnapshot, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { followSyncOf, statusesIn, verbsIn } from '../../test/support/harness/image-decisions.ts';
import type { Observed } from './observed.ts';

const image = (status: VMDiskImageStatus, more = {}) =>
  aVMDiskImage({ status: { revision: 1, attempt: 1, attempts: 1, startedAt: at(0), ...status }, ...more });
const syncing = image({ phase: 'Syncing' });
const seen = image({
  phase: 'Syncing',
  importer: { uid: 'pod-1', scratch: false },
  dataVolume: aDataVolume(syncing).metadata.name,
});
const cut = { running: { status: 'False', reason: 'Error', message: 'Unable to process data: unexpected EOF' } };
const bound = { phase: 'Succeeded', running: { status: 'False', reason: 'Completed' }, bound: { status: 'True' } };

function reconcile({ image, ...more }: Partial<Observed> & Pick<Observed, 'image'>, data: Record<string, string> = {}) {
  const actions = followSyncOf(image, { data, ...more });
  return { actions, verbs: verbsIn(actions), status: statusesIn(actions)[0] };
}

const measured = (actions: readonly Action[]) =>
  actions.filter((action) => action.do === 'measure').map(({ metric }) => metric);

describe('an attempt that fails', () => {
  test('is written down before its DataVolume is deleted', () => {
    const { actions, verbs, status } = reconcile({ image: seen, dataVolumes: [aDataVolume(seen, cut)] });
    expect(verbs).toEqual(['patchStatus', 'delete']);
    // Only as it was observed: its download may have ended since.
    expect(actions.at(-1)).toMatchObject({ do: 'delete', unchanged: true });
    expect(status).toMatchObject({ phase: 'Retrying', attempts: 1, nextAttemptAt: '2026-01-01T00:06:00.000000Z' });
    expect(status?.message).toBe('Unable to process data: unexpected EOF. Next attempt at 00:06 UTC.');
  });
  test.each([
    [1, 5],
    [2, 10],
    [3, 20],
    [9, 60],
  ])('number %i is tried again after %i minutes', (attempt, minutes) => {
    const failed = image({ ...seen.status, attempt, attempts: attempt });
    const { status } = reconcile({ image: failed, dataVolumes: [aDataVolume(failed, cut)] }, { retryLimit: '100' });
    expect(Date.parse(status?.nextAttemptAt as string) - start - 60_000).toBe(minutes * 60_000);
  });
  test('the last counted failure fails the image', () => {
    const last = image({ ...seen.status, attempt: 3, attempts: 3 });
    expect(reconcile({ image: last, dataVolumes: [aDataVolume(last, cut)] }).status).toMatchObject({
      phase: 'Failed',
      attempts: 3,
      message:
        'Given up after 3 attempts: Unable to process data: unexpected EOF. To request another download: kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/sync-requested=$(date +%s) --overwrite',
    });
  });
  test('that is final is not tried again', () => {
    const gone = {
      running: {
        status: 'False',
        reason: 'Error',
        message: 'expected status code 200, got 404. Status: 404 Not Found',
      },
    };
    const { status, actions } = reconcile({ image: seen, dataVolumes: [aDataVolume(seen, gone)] });
    expect(status).toMatchObject({
      phase: 'Failed',
      conditions: [
        { type: 'Ready', status: 'False', reason: 'NotFound' },
        { type: 'Stalled', status: 'True', reason: 'NotFound' },
      ],
    });
    expect(measured(actions)).toEqual(['ot.image.sync.attempts', 'ot.image.sync.duration']);
  });
  test('because the disk is too small says that the spec helps, and not another attempt', () => {
    const running = { status: 'False', reason: 'Error', message: 'DataVolume too small to contain image' };
    const { status } = reconcile({ image: seen, dataVolumes: [aDataVolume(seen, { running })] });
    expect(status?.message).toBe(
      'Not tried again: DataVolume too small to contain image. Make diskSize at least the virtual size of the image; that change starts a new download.',
    );
  });
  test('of a source that no inspection could reach says to correct its url', () => {
    const queuedAt = at(0);
    const inspected = { type: 'SourceInspected', status: 'False' as const, reason: 'SourceUnreachable', message: '' };
    const last = image({
      ...{ ...seen.status, attempt: 3, attempts: 3, queuedAt, source: { inspectedAt: at(1), queuedAt } },
      conditions: [{ ...inspected, lastTransitionTime: at(1) }],
    });
    expect(reconcile({ image: last, dataVolumes: [aDataVolume(last, cut)] }).status?.message).toMatch(
      /^Given up after 3 attempts: .* Correct url if its host is wrong\. To request another download: kubectl/,
    );
  });
  test('is counted with the bytes it may have cost, where the server gave any out', () => {
    const { actions } = reconcile({ image: seen, dataVolumes: [aDataVolume(seen, cut)] });
    expect(measured(actions)).toContain('ot.image.download.estimated');
  });
  test('without having started does not count, and never fails the image', () => {
    const waiting = image({ phase: 'Syncing', attempt: 3, attempts: 3 });
    const stuck = aDataVolume(waiting, {
      phase: 'ImportScheduled',
      running: { status: 'False', reason: 'CreateContainerConfigError', message: 'secret "s3-reader" not found' },
    });
    const { status } = reconcile({ image: waiting, dataVolumes: [stuck], nowMs: start + 900_000 });
    expect(status).toMatchObject({ phase: 'Retrying', attempts: 2 });
    expect(status?.message).toContain('secret "s3-reader" not found');
  });
  test('under a retryLimit that does not parse waits for a decision', () => {
    const last = image({ ...seen.status, attempts: 30 });
    expect(reconcile({ image: last, dataVolumes: [aDataVolume(last, cut)] }, { retryLimit: 'x' }).status?.phase).toBe(
      'Retrying',
    );
  });
});

describe('a download that is done', () => {
  const done = () => aDataVolume(syncing, bound);
  test.each([
    ['after startTimeout, its importer never seen', { image: syncing, nowMs: start + 16 * 60_000 }],
    ['after syncTimeout', { image: syncing, nowMs: start + 5 * 3_600_000 }],
    ['beside an evicted Pod', { image: syncing, pods: [anImporter(syncing, { phase: 'Failed', reason: 'Evicted' })] }],
  ])('is kept %s', (_, observed) => {
    expect(reconcile({ ...observed, dataVolumes: [done()] }).status?.phase).toBe('Snapshotting');
  });
  test('and waits for its claim is not called never started', () => {
    const unbound = aDataVolume(syncing, { ...bound, bound: { status: 'False' } });
    expect(reconcile({ image: syncing, dataVolumes: [unbound], nowMs: start + 16 * 60_000 }).actions).toEqual([]);
  });
});

describe('an attempt under way', () => {
  test('is left alone while nothing is new', () => {
    expect(reconcile({ image: seen, dataVolumes: [aDataVolume(seen)], pods: [anImporter(seen)] }).actions).toEqual([]);
  });
  test('shows its importer once it is at work', () => {
    const { status } = reconcile({
      image: syncing,
      dataVolumes: [aDataVolume(syncing, { progress: 'N/A' })],
      pods: [anImporter(syncing)],
    });
    const said = { reason: 'SyncStarted', message: 'Downloading, attempt 1.' };
    expect(status).toMatchObject({
      conditions: [
        { type: 'Ready', status: 'False', ...said },
        { type: 'Reconciling', status: 'True', ...said },
      ],
      dataVolume: aDataVolume(syncing).metadata.name,
      importer: { uid: 'pod-1', scratch: false },
      progress: 'N/A',
      progressAt: '2026-01-01T00:01:00Z',
      message: 'Downloading, attempt 1.',
    });
  });
  test('says what keeps its importer from starting, once', () => {
    const trouble = { status: 'False', reason: 'CreateContainerConfigError', message: 'secret "x" not found' };
    const dataVolume = aDataVolume(syncing, { phase: 'ImportScheduled', running: trouble });
    const { actions, status } = reconcile({ image: syncing, dataVolumes: [dataVolume] });
    const message = 'Waiting for the importer, attempt 1. CreateContainerConfigError: secret "x" not found.';
    expect(actions.map((action) => action.do)).toEqual(['patchStatus', 'recordEvent']);
    expect(status).toMatchObject({
      message,
      conditions: [
        { type: 'Ready', status: 'False', reason: 'SyncBlocked', message },
        { type: 'Reconciling', status: 'True', reason: 'SyncBlocked', message },
      ],
    });
    const said = image({ ...syncing.status, ...status });
    expect(reconcile({ image: said, dataVolumes: [dataVolume] }).actions).toEqual([]);
    const other = aDataVolume(syncing, { phase: 'ImportScheduled', running: { ...trouble, message: 'no key "y"' } });
    expect(reconcile({ image: said, dataVolumes: [other] }).actions).toMatchObject([{ do: 'patchStatus' }]);
  });
  test('that no node takes is reported in the words of the scheduler, once it has lasted: a new claim is waited for as well', () => {
    const running = { status: 'False', reason: 'Unschedulable', message: 'Importer pod cannot be scheduled' };
    const seen = {
      image: syncing,
      dataVolumes: [aDataVolume(syncing, { phase: 'ImportScheduled', running })],
      pods: [anImporter(syncing, { phase: 'Pending', nodeless: '0/1 nodes are available: 1 Insufficient cpu.' })],
    };
    expect(reconcile({ ...seen, nowMs: start + 30_000 }).actions).toEqual([]);
    expect(reconcile({ ...seen, nowMs: start + 61_000 }).status?.message).toBe(
      'Waiting for the importer, attempt 1. Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.',
    );
  });
  test.each([
    ['20%', '24.99%', undefined],
    ['20%', '25.10%', '25%'],
    ['N/A', '3.00%', '3%'],
    ['30%', 'N/A', undefined],
  ])('at %s and then %s writes %s', (before, after, written) => {
    const going = image({ ...seen.status, progress: before });
    expect(
      reconcile({ image: going, dataVolumes: [aDataVolume(going, { progress: after })], pods: [anImporter(going)] })
        .status?.progress,
    ).toBe(written);
  });
  test('is not done before its claim is bound', () => {
    expect(
      reconcile({ image: seen, dataVolumes: [aDataVolume(seen, { ...bound, bound: { status: 'False' } })] }).actions,
    ).toEqual([]);
  });
  test('once downloaded and bound becomes a snapshot', () => {
    const { verbs, status } = reconcile({ image: seen, dataVolumes: [aDataVolume(seen, bound)] });
    expect(verbs).toEqual(['patchStatus', 'create']);
    expect(status).toMatchObject({ phase: 'Snapshotting', progress: '100%' });
  });
});

describe('a snapshot', () => {
  const snapshotting = image({ phase: 'Snapshotting', snapshottingAt: at(0) });
  const volume = aDataVolume(snapshotting, bound);
  test('that is ready makes the image Succeeded, and then its source volume is deleted, unless the policy retains it', () => {
    const { verbs, status } = reconcile({
      image: snapshotting,
      dataVolumes: [volume],
      snapshots: [aSnapshot(snapshotting, { ready: true })],
    });
    expect(status).toMatchObject({
      phase: 'Succeeded',
      snapshot: { revision: 1, restoreSize: '24Gi' },
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    expect(verbs).toEqual(['patchStatus', 'delete']);
    const done = image({ phase: 'Succeeded', snapshot: { name: aSnapshot(snapshotting).metadata.name, revision: 1 } });
    expect(
      reconcile({ image: done, dataVolumes: [volume], snapshots: [aSnapshot(done, { ready: true })] }).verbs,
    ).toEqual(['delete']);
    expect(
      reconcile(
        { image: done, dataVolumes: [volume], snapshots: [aSnapshot(done, { ready: true })] },
        { retainSourceVolume: 'true' },
      ).verbs,
    ).toEqual([]);
  });
  test('that is ready wins over an error that lingers', () => {
    const snapshots = [aSnapshot(snapshotting, { ready: true, error: 'earlier' })];
    expect(reconcile({ image: snapshotting, dataVolumes: [volume], snapshots }).status?.phase).toBe('Succeeded');
  });
  test('is not waited for longer if a user removed its start from the status', () => {
    const { snapshottingAt: _, startedAt: __, ...status } = snapshotting.status ?? {};
    const observed = {
      image: { ...snapshotting, status },
      dataVolumes: [volume],
      snapshots: [aSnapshot(snapshotting)],
    };
    expect(reconcile({ ...observed, nowMs: start + 14_400_000 }).status?.phase).toBe('Failed');
  });
  test('that shows an error is waited for until snapshotTimeout; then the image fails and the volume is kept', () => {
    const snapshots = [aSnapshot(snapshotting, { error: 'throttled' })];
    const observed = { image: snapshotting, dataVolumes: [volume], snapshots };
    expect(reconcile(observed).status).not.toHaveProperty('phase');
    const { verbs, status } = reconcile({ ...observed, nowMs: start + 7_200_000 });
    expect(status).toMatchObject({ phase: 'Failed', conditions: [{ reason: 'SnapshotTimeout' }, { type: 'Stalled' }] });
    expect(status?.message).toContain('throttled');
    expect(verbs).toEqual(['patchStatus']);
    const failed = image({ phase: 'Failed', snapshottingAt: at(0) });
    expect(reconcile({ image: failed, dataVolumes: [volume] }).verbs).toEqual([]);
  });
  test.each([
    ['was cut from the claim of another attempt', { attempt: 7 }],
    ['is older than the volume of the attempt', { createdAfterSeconds: -60 }],
  ])('that %s holds another download: it is deleted and created again', (_, options) => {
    const made = { ...volume, metadata: { ...volume.metadata, creationTimestamp: at(0) } };
    const other = aSnapshot(snapshotting, { ...options, ready: true });
    const observed = { image: snapshotting, dataVolumes: [made], snapshots: [other] };
    expect(reconcile(observed).actions).toMatchObject([
      { do: 'patchStatus', status: {} },
      { do: 'delete', of: { metadata: { name: other.metadata.name } } },
    ]);
    expect(reconcile({ ...observed, snapshots: [] }).verbs).toEqual(['create']);
  });
  test('of another download is kept if machines are cloned from it or it is not the image’s, and the image fails', () => {
    const other = aSnapshot(snapshotting, { attempt: 7, ready: true });
    const used = image({ ...snapshotting.status, snapshot: { name: other.metadata.name, revision: 1 } });
    const strange = { ...other, metadata: { ...other.metadata, labels: {} } };
    for (const observed of [
      { image: used, snapshots: [other] },
      { image: snapshotting, snapshots: [strange] },
    ]) {
      const { verbs, status } = reconcile({ ...observed, dataVolumes: [volume] });
      expect(verbs).toEqual(['patchStatus']);
      expect(status).toMatchObject({ phase: 'Failed' });
      expect(status?.message).toContain(`VolumeSnapshot ${other.metadata.name} was not cut from the volume`);
    }
  });
  test('that a crash left unmade is made', () => {
    expect(reconcile({ image: snapshotting, dataVolumes: [volume] }).verbs).toEqual(['create']);
  });
  test('whose volume is lost fails the image', () => {
    expect(reconcile({ image: snapshotting }).status).toMatchObject({
      phase: 'Failed',
      conditions: [{ reason: 'VolumeLost' }, { type: 'Stalled' }],
    });
  });
  test('of an earlier revision goes once the new one is ready, not before', () => {
    const second = image({
      phase: 'Snapshotting',
      revision: 2,
      snapshottingAt: at(0),
      snapshot: { name: 'old', revision: 1 },
    });
    const old = aSnapshot(second, { revision: 1, ready: true });
    expect(
      reconcile({ image: second, dataVolumes: [aDataVolume(second, bound)], snapshots: [old, aSnapshot(second)] })
        .verbs,
    ).toEqual([]);
    const done = image({
      phase: 'Succeeded',
      revision: 2,
      snapshot: { name: aSnapshot(second).metadata.name, revision: 2 },
    });
    const both = { image: done, snapshots: [old, aSnapshot(done, { ready: true })] };
    expect(reconcile(both, { keepRevisions: '1' }).verbs).toEqual(['patchStatus', 'delete']);
    expect(reconcile(both).verbs).toEqual([]);
  });
  const done = image({ phase: 'Succeeded', snapshot: { name: aSnapshot(snapshotting).metadata.name, revision: 1 } });
  test('that answers 404 is lost; a snapshot missing from a list is not', () => {
    expect(reconcile({ image: done, isSnapshotGone: true }).status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False' },
      { type: 'SnapshotLost', status: 'True' },
      { type: 'Stalled', status: 'True' },
    ]);
    expect(reconcile({ image: done }).actions).toEqual([]);
  });
  test.each([
    ['whose content is missing', 'VolumeSnapshotContent is missing'],
    ['whose content belongs to another', 'VolumeSnapshotContent is not bound to the VolumeSnapshot correctly'],
    // The external-snapshotter writes this over the first at its next resync, and of a snapshot that a backup brought back.
    [
      'whose claim is missing too',
      'Failed to create snapshot content with error snapshot controller failed to update ready-10af0f2d-r1 on API server: cannot get claim from snapshot',
    ],
  ])('%s is lost', (_, error) => {
    expect(reconcile({ image: done, snapshots: [aSnapshot(done, { error })] }).status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False' },
      { type: 'SnapshotLost', status: 'True' },
      { type: 'Stalled', status: 'True' },
    ]);
  });
  const unready = aSnapshot(done);
  test.each([
    ['that is ready, with an old error', { readyToUse: true, error: { message: 'rate limited' } }],
    ['that is not ready, without an error', { readyToUse: false }],
    ['whose class is missing', { error: { message: 'Failed to get snapshot class with error "x" not found' } }],
  ])('%s is not lost', (_, status) => {
    expect(reconcile({ image: done, snapshots: [{ ...unready, status }] }).actions).toEqual([]);
  });
});

test('a snapshot that was taken again and is not ready yet is waited for, while the volume it is taken from exists', () => {
  const snapshot = { name: aSnapshot(syncing).metadata.name, revision: 1 };
  const done = image({ phase: 'Succeeded', dataVolume: aDataVolume(syncing).metadata.name, snapshot });
  const taken = { ...aSnapshot(done), status: { readyToUse: false } };
  const { status } = reconcile({ image: done, dataVolumes: [aDataVolume(done, bound)], snapshots: [taken] });
  expect(status).toMatchObject({ phase: 'Snapshotting', snapshottingAt: expect.any(String) });
  expect(status?.message).toContain('is not ready; waiting');
  // Or start-sync would download it again once snapshotTimeout is over.
  expect(status?.conditions).toMatchObject([
    { type: 'Ready', status: 'False', reason: 'SnapshotNotReady' },
    { type: 'Reconciling', status: 'True' },
  ]);
});

test("another user's object with the name of the snapshot is no snapshot of the image, however ready it is", () => {
  const ours = aSnapshot(image({ phase: 'Succeeded' }), { ready: true });
  const theirs = { ...ours, metadata: { ...ours.metadata, uid: 'uid-theirs', labels: {} } };
  const held = { name: ours.metadata.name, revision: 1 };
  const lost = [{ type: 'SnapshotLost', status: 'True' as const, reason: 'x', message: '', lastTransitionTime: at(0) }];
  const isLost = image({ phase: 'Succeeded', snapshot: held, conditions: lost });
  expect(reconcile({ image: isLost, snapshots: [theirs] }).actions).toEqual([]);
  expect(reconcile({ image: isLost, snapshots: [ours] }).status?.message).toBe('The snapshot exists.');
  const found = reconcile({ image: image({ phase: 'Succeeded', snapshot: held }), snapshots: [theirs] }).status;
  expect(found?.conditions).toMatchObject([
    { type: 'Ready', status: 'False' },
    { type: 'SnapshotLost', status: 'True' },
    { type: 'Stalled', status: 'True' },
  ]);
  expect(found?.message).toContain(`The snapshot ${held.name} is lost, and another snapshot has its name;`);
});

describe('the snapshot of an image that is being deleted', () => {
  const isReady = (status: 'True' | 'False', reason: string) => [
    { type: 'Ready', status, reason, message: '', lastTransitionTime: at(0) },
  ];
  const snapshot = { name: 'ubuntu-r1', revision: 1 };
  test.each([
    ['is lost', 'Succeeded', isReady('True', 'SnapshotReady'), ['patchStatus', 'recordEvent']],
    ['of an earlier revision is lost', 'Syncing', isReady('True', 'Queued'), ['patchStatus', 'recordEvent']],
    ['is deleted by prune, and not lost', 'Succeeded', isReady('False', 'TakenDown'), []],
  ] as const)('%s', (_, phase, conditions, verbs) => {
    const found = reconcile({
      image: image({ phase, snapshot, conditions: [...conditions] }, { deleted: true }),
      isSnapshotGone: true,
    });
    expect(found.actions.map(({ do: verb }) => verb)).toEqual(verbs);
    if (verbs.length > 0)
      expect(found.status?.conditions).toMatchObject([
        { type: 'Ready', status: 'False' },
        { type: 'SnapshotLost', status: 'True', message: expect.not.stringContaining('new sync') },
        ...(phase === 'Succeeded' ? [{ type: 'Stalled', status: 'True' }] : []),
      ]);
  });
  test('that exists is not reported', () => {
    const leaving = image({ phase: 'Succeeded', snapshot, conditions: isReady('True', 'x') }, { deleted: true });
    expect(reconcile({ image: leaving }).actions).toEqual([]);
  });
});

describe('a DataVolume that is not the current attempt', () => {
  const queued = image({ phase: 'Queued', attempt: 1 });
  test('is deleted on sight', () => {
    expect(reconcile({ image: queued, dataVolumes: [aDataVolume(queued)] }).verbs).toEqual(['delete']);
    const second = image({ phase: 'Syncing', revision: 2 });
    expect(reconcile({ image: second, dataVolumes: [aDataVolume(second, { revision: 1 })] }).verbs).toEqual(['delete']);
  });
  test('is deleted only as it was observed: it may have been downloaded since', () => {
    const { actions } = reconcile({ image: queued, dataVolumes: [aDataVolume(queued)] });
    expect(actions).toMatchObject([{ do: 'delete', unchanged: true }]);
  });
  test('is left alone where it is newer than the image that was read', () => {
    expect(reconcile({ image: queued, dataVolumes: [aDataVolume(queued, { attempt: 2 })] }).verbs).toEqual([]);
  });
  test('and newer than an image that is ready is deleted, if the image is still as it was read', () => {
    const name = 'ubuntu-r1';
    const ready = image({ phase: 'Succeeded', snapshot: { name, revision: 1 } });
    const [dataVolumes, snapshot] = [[aDataVolume(ready, { revision: 2 })], aSnapshot(ready, { ready: true })];
    const usable = { ...snapshot, metadata: { ...snapshot.metadata, name } };
    const { actions } = reconcile({ image: ready, dataVolumes, snapshots: [usable] });
    expect(actions).toMatchObject([
      { do: 'patchStatus', of: ready, status: {} },
      { do: 'delete', of: dataVolumes[0], unchanged: true },
    ]);
    expect(reconcile({ image: ready, dataVolumes, snapshots: [] }).verbs).not.toContain('delete');
  });
});

test('an image in a phase of another version, and its volumes and snapshots, are left alone', () => {
  const unknown = image({ phase: 'Verifying', revision: 3, attempt: 1, snapshottingAt: at(0) });
  const dataVolumes = [aDataVolume(unknown, { revision: 2 }), aDataVolume(unknown, bound)];
  const snapshots = [aSnapshot(unknown, { revision: 1, ready: true }), aSnapshot(unknown, { ready: true })];
  expect(reconcile({ image: unknown, dataVolumes, snapshots, isAudit: true }).actions).toEqual([]);
});

test('an image that is being deleted is left to prune', () => {
  expect(
    reconcile({ image: image({ phase: 'Syncing' }, { deleted: true }), dataVolumes: [aDataVolume(syncing, cut)] })
      .actions,
  ).toEqual([]);
});

describe('word that an image is to be pruned', () => {
  const unused = image(
    { phase: 'Succeeded', unreferencedSince: at(0) },
    { labels: { 'pelotech.ot/made-for': 'workspaces' } },
  );
  const told = (observed: Pick<Observed, 'image'> & Partial<Observed>) =>
    reconcile({ isNamed: true, ...observed }).actions.filter(
      (action) => action.do === 'publish' && action.type === diskImageFact('prunable'),
    );

  test.each([
    ['is deleted', image({ phase: 'Syncing' }, { deleted: true }), 'Deleted'],
    ['was made for a workspace and is unused', unused, 'LastReference'],
  ])('is published when an event is about an image that %s', (_, one, reason) => {
    expect(told({ image: one })).toMatchObject([{ data: { name: 'ubuntu', reason } }]);
    expect(told({ image: one, isNamed: false })).toEqual([]);
  });
  test.each([
    ['stays', image({ phase: 'Succeeded', unreferencedSince: at(0) })],
    ['a user keeps', { ...unused, metadata: { ...unused.metadata, annotations: { 'pelotech.ot/keep': '' } } }],
  ])('is not published of an image that %s', (_, one) => {
    expect(told({ image: one })).toEqual([]);
  });
});
