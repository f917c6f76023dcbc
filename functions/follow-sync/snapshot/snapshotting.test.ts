import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import { diskImageFact } from '../../../shared/images/facts.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { syncRequested, VMDiskImage, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { readScenario } from '../../../test/proofs/replay/scenarios.ts';
import { aDataVolume, aSnapshot, at, aVMDiskImage, type ImageOptions } from '../../../test/support/builders/images.ts';
import { followSyncOf, statusesIn, verbsIn } from '../../../test/support/harness/image-decisions.ts';
import type { Observed } from '../observed.ts';

const image = (status: VMDiskImageStatus, more: ImageOptions = {}) =>
  aVMDiskImage({
    ...more,
    status: {
      revision: 1,
      attempt: 1,
      attempts: 1,
      startedAt: at(0),
      snapshottingAt: at(0),
      contentDigest: contentDigest(aVMDiskImage()),
      ...status,
    },
  });

function reconcile(found: VMDiskImage, more?: Parameters<typeof followSyncOf>[1]) {
  const actions = followSyncOf(found, more);
  return { actions, verbs: verbsIn(actions), statuses: statusesIn(actions) };
}

const bound = { phase: 'Succeeded', running: { status: 'False', reason: 'Completed' }, bound: { status: 'True' } };
const waiting = image({ phase: 'Snapshotting', message: 'Downloaded; waiting for the snapshot.' });
const volume = aDataVolume(waiting, bound);
const ready = aSnapshot(waiting, { ready: true });
const leaving = aSnapshot(waiting, { ready: true, leaving: true });
const { name } = ready.metadata;

const after = (status: VMDiskImageStatus, patch: Record<string, unknown> | undefined) =>
  image(Object.fromEntries(Object.entries({ ...status, ...patch }).filter(([, value]) => value !== null)));

describe('a snapshot that is being deleted', () => {
  test('makes no image Succeeded, and another is taken once it is deleted', () => {
    expect(reconcile(waiting, { dataVolumes: [volume], snapshots: [leaving] }).actions).toEqual([]);
    expect(reconcile(waiting, { dataVolumes: [volume] }).verbs).toEqual(['create']);
  });
  test('is lost to a finished image: CSI no longer clones from it', () => {
    const done = image({ phase: 'Succeeded', snapshot: { name, revision: 1 } });
    const { statuses } = reconcile(done, { snapshots: [leaving] });
    expect(statuses).toMatchObject([
      { conditions: [{ type: 'Ready', status: 'False' }, { type: 'SnapshotLost' }, { type: 'Stalled' }] },
    ]);
    expect(statuses[0]?.message).toContain(`The snapshot ${name} is being deleted;`);
  });
});

describe('the volume of an image that has Succeeded', () => {
  const done = image({ phase: 'Succeeded', snapshot: { name, revision: 1 } });
  test('is deleted once its snapshot is usable', () => {
    expect(reconcile(done, { dataVolumes: [volume], snapshots: [ready] }).verbs).toEqual(['delete']);
  });
  test.each([
    ['is in no list', { snapshots: [] }],
    ['is no longer ready', { snapshots: [aSnapshot(done)] }],
    ['is being deleted', { snapshots: [leaving] }],
    ['is gone', { isSnapshotGone: true }],
    ['has lost its content', { snapshots: [aSnapshot(done, { error: 'VolumeSnapshotContent is missing' })] }],
  ])('is kept if its snapshot %s: it is the last copy', (_, more) => {
    expect(reconcile(done, { dataVolumes: [volume], ...more }).verbs).not.toContain('delete');
  });
  test.each<[string, Partial<Observed>, string[]]>([
    ['deleted', { isSnapshotGone: true }, ['create']],
    ['being deleted', { snapshots: [leaving] }, []],
    [
      'without its content',
      { snapshots: [aSnapshot(done, { error: 'VolumeSnapshotContent is missing' })] },
      ['patchStatus', 'delete'],
    ],
  ])('is the source of another snapshot if the first is %s: nothing is downloaded', (_, more, verbs) => {
    const { statuses } = reconcile(done, { dataVolumes: [volume], ...more });
    expect(statuses).toMatchObject([
      {
        phase: 'Snapshotting',
        snapshottingAt: at(60).replace('.000Z', 'Z'),
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'Reconciling', status: 'True' },
          { type: 'SnapshotLost', status: 'True' },
        ],
      },
    ]);
    const again = after(done.status ?? {}, statuses[0]);
    expect(reconcile(again, { dataVolumes: [volume], ...more }).verbs).toEqual(verbs);
    expect(reconcile(again, { dataVolumes: [volume], snapshots: [ready] }).statuses).toMatchObject([
      {
        phase: 'Succeeded',
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'SnapshotLost', status: 'False' },
        ],
      },
    ]);
  });
  test('or a restored backup has its snapshot again: machines that wait hear of it', () => {
    const conditions = [
      { type: 'Ready', status: 'False' as const, reason: 'SnapshotLost', message: '', lastTransitionTime: at(0) },
      { type: 'SnapshotLost', status: 'True' as const, reason: 'SnapshotLost', message: '', lastTransitionTime: at(0) },
    ];
    const lost = image({ phase: 'Succeeded', snapshot: { name, revision: 1 }, conditions });
    const { actions, statuses } = reconcile(lost, { snapshots: [ready] });
    expect(statuses[0]?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }, { status: 'False' }]);
    expect(actions).toContainEqual(expect.objectContaining({ do: 'publish', type: diskImageFact('ready') }));
  });
  test('is not used again if a snapshot of another user has the name', () => {
    const theirs = { ...ready, metadata: { ...ready.metadata, labels: {} } };
    const { statuses } = reconcile(done, { dataVolumes: [volume], snapshots: [theirs] });
    expect(statuses[0]).not.toHaveProperty('phase');
  });
});

test('an image that was restored under another uid is cloned from the snapshot that its status names', () => {
  const before = aVMDiskImage({ uid: 'uid-before' });
  const snapshot = aSnapshot(before, { ready: true });
  const restored = image({ phase: 'Succeeded', snapshot: { name: snapshot.metadata.name, revision: 1 } });
  expect(reconcile(restored, { snapshots: [snapshot] }).actions).toEqual([]);
});

describe('an image that Failed for want of its snapshot', () => {
  const failed = (reason: string, status: VMDiskImageStatus = {}) =>
    image({
      phase: 'Failed',
      conditions: [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: at(0) }],
      ...status,
    });
  const refusals = new Map([[`VolumeSnapshot vmdi-farm/${name}`, { reason: 'Forbidden', message: 'exceeded quota' }]]);
  test('because the API server refused it keeps its volume, and the message reports both', () => {
    const { verbs, statuses } = reconcile(waiting, { dataVolumes: [volume], refusals });
    expect(verbs).toEqual(['patchStatus']);
    expect(statuses[0]?.message).toBe(
      'The VolumeSnapshot was refused: Forbidden: exceeded quota. The volume is kept; the snapshot is retried every ten minutes, and when annotation pelotech.ot/sync-requested changes.',
    );
  });
  test('creates it again at each audit, and is unchanged if it is refused again', () => {
    const observed = { dataVolumes: [volume], isAudit: true };
    expect(reconcile(failed('Rejected'), observed).verbs).toEqual(['create']);
    expect(reconcile(failed('SnapshotTimeout'), observed).verbs).toEqual(['create']);
    expect(reconcile(failed('Rejected'), { ...observed, refusals }).verbs).toEqual([]);
    expect(reconcile(failed('Rejected'), { ...observed, isAudit: false }).verbs).toEqual([]);
    expect(reconcile(failed('VolumeLost'), { isAudit: true }).verbs).toEqual([]);
  });
  test.each([
    ['Rejected', 'made', aSnapshot(waiting), ['Snapshotting']],
    ['Rejected', 'being deleted', leaving, []],
    ['SnapshotTimeout', 'still not ready', aSnapshot(waiting, { error: 'throttled' }), []],
    ['SnapshotTimeout', 'ready', ready, ['Snapshotting']],
    ['VolumeLost', 'ready', ready, ['Snapshotting']],
    ['SnapshotTimeout', 'ready, of another volume', aSnapshot(waiting, { attempt: 7, ready: true }), []],
  ])('(%s) whose snapshot is %s', (reason, _, snapshot, phases) => {
    const dataVolumes = reason === 'VolumeLost' ? [] : [volume];
    const { statuses } = reconcile(failed(reason), { dataVolumes, snapshots: [snapshot] });
    expect(statuses.map(({ phase }) => phase)).toEqual(phases);
  });
  test('deletes its own snapshot at an audit if that is lost or of another volume, and makes another at the next', () => {
    const observed = { dataVolumes: [volume], isAudit: true };
    const isLost = aSnapshot(waiting, { error: 'VolumeSnapshotContent is missing' });
    for (const snapshot of [aSnapshot(waiting, { attempt: 7, ready: true }), isLost]) {
      const inTheWay = { ...observed, snapshots: [snapshot] };
      // Guarded: a backup may have restored the image with this snapshot since.
      expect(reconcile(failed('Rejected'), inTheWay).actions).toMatchObject([
        { do: 'patchStatus', status: {} },
        { do: 'delete', of: { metadata: { name } } },
      ]);
      expect(reconcile(failed('Rejected'), { ...inTheWay, isAudit: false }).verbs).toEqual([]);
      expect(reconcile(failed('VolumeLost'), { ...inTheWay, dataVolumes: [] }).verbs).toEqual([]);
      const theirs = { ...snapshot, metadata: { ...snapshot.metadata, labels: {} } };
      expect(reconcile(failed('Rejected'), { ...inTheWay, snapshots: [theirs] }).verbs).toEqual([]);
    }
    expect(reconcile(failed('Rejected'), { ...observed, snapshots: [leaving] }).verbs).toEqual([]);
    const used = failed('Rejected', { snapshot: { name, revision: 1 } });
    expect(
      reconcile(used, { ...observed, snapshots: [aSnapshot(waiting, { attempt: 7, ready: true })] }).verbs,
    ).toEqual([]);
  });
  test('tries again at once where nothing but sync-requested changed, and does so once', () => {
    const status = failed('SnapshotTimeout').status ?? {};
    const asked = (more: ImageOptions) => aVMDiskImage({ status, annotations: { [syncRequested]: 'now' }, ...more });
    const kept = { dataVolumes: [volume] };
    const { verbs, statuses } = reconcile(asked({}), kept);
    expect(verbs).toEqual(['patchStatus']);
    expect(statuses[0]).toMatchObject({
      phase: 'Snapshotting',
      snapshottingAt: at(60).replace('.000Z', 'Z'),
      syncRequested: 'now',
    });
    expect(statuses[0]?.contentDigest).toBe(contentDigest(asked({})));
    const again = { ...status, contentDigest: contentDigest(asked({})), syncRequested: 'now' };
    expect(reconcile(asked({ status: again }), kept).verbs).toEqual([]);
    expect(reconcile(asked({ status: again, annotations: {} }), kept).verbs).toEqual(['patchStatus']);
    expect(reconcile(asked({ spec: { url: 'https://images/other' } }), kept).verbs).toEqual([]);
    expect(reconcile(asked({ status: { ...status, syncRequested: 'before' } }), kept).verbs).toEqual([]);
    expect(reconcile(asked({})).verbs).toEqual([]);
  });
  test.each([
    ['without snapshottingAt', failed('SnapshotTimeout', { snapshottingAt: undefined })],
    ['that timed out just as its download ended', failed('SyncTimeout', { snapshottingAt: undefined })],
  ])('%s keeps its volume, and its snapshot is created', (_, image) => {
    expect(reconcile(image, { dataVolumes: [volume] }).verbs).toEqual([]);
    expect(reconcile(image, { dataVolumes: [volume], isAudit: true }).verbs).toEqual(['create']);
    const { verbs, statuses } = reconcile(image, { dataVolumes: [volume], snapshots: [ready] });
    expect(verbs).toEqual(['patchStatus']);
    expect(statuses).toMatchObject([{ phase: 'Snapshotting' }]);
  });
  test.each(['VolumeLost', 'SnapshotTimeout', 'SnapshotFailed', 'Rejected'])(
    '(%s) becomes Snapshotting once its snapshot is usable, although its volume is gone and a user removed snapshottingAt',
    (reason) => {
      const { statuses } = reconcile(failed(reason, { snapshottingAt: undefined }), { snapshots: [ready] });
      expect(statuses).toMatchObject([{ phase: 'Snapshotting' }]);
    },
  );
  test('keeps its volume while CDI reports no phase, as it does when it cannot read its configuration', () => {
    const { phase: _, ...status } = volume.status ?? {};
    const dataVolumes = [DataVolume.parse({ ...volume, status })];
    expect(reconcile(failed('SnapshotTimeout'), { dataVolumes, isAudit: true }).verbs).not.toContain('delete');
  });
  test('keeps no volume that is not downloaded or not bound', () => {
    for (const state of [
      { ...bound, bound: { status: 'False' } },
      { ...bound, phase: 'ImportInProgress' },
    ]) {
      const dataVolumes = [aDataVolume(waiting, state)];
      expect(reconcile(failed('SyncTimeout', { snapshottingAt: undefined }), { dataVolumes }).verbs).toEqual([
        'delete',
      ]);
    }
  });
  test('restores snapshottingAt that a user removed, so that start-sync does not download again', () => {
    const { snapshottingAt: _, ...status } = waiting.status ?? {};
    const { statuses } = reconcile({ ...waiting, status }, { dataVolumes: [volume], refusals });
    expect(statuses).toMatchObject([{ phase: 'Failed', snapshottingAt: at(0).replace('.000Z', 'Z') }]);
  });
  test('leaves another content to start-sync, and does not recover a failed download', () => {
    const observed = { dataVolumes: [volume], snapshots: [ready], isAudit: true };
    expect(reconcile(failed('SnapshotTimeout', { contentDigest: 'old' }), observed).verbs).toEqual([]);
    const { snapshottingAt: _, ...status } = failed('ImportFailed').status ?? {};
    expect(reconcile(aVMDiskImage({ status }), { snapshots: [ready], isAudit: true }).verbs).toEqual([]);
  });
});

test('an error of the snapshotter is reported at once, and only while it lasts', () => {
  const recorded = readScenario('33-snapshot-class-with-missing-secret');
  const of = <T>({ kind, parse }: { kind: string; parse(value: unknown): T }) =>
    recorded
      .filter(({ object, type }) => object.kind === kind && type !== 'DELETED')
      .map(({ object }) => parse(object));
  const asked = of(VMDiskImage).find(({ status }) => status?.phase === 'Snapshotting');
  const dataVolume = of(DataVolume).at(-1);
  const snapshots = of(VolumeSnapshot).slice(0, 6);
  if (!asked || !dataVolume) throw new Error('expected an image that waits for its snapshot in the recording');
  const said: string[] = [];
  let now = asked;
  for (const snapshot of [...snapshots, snapshots[2]]) {
    const nowMs = Date.parse('2026-11-24T07:52:30Z');
    const { actions, statuses } = reconcile(now, {
      nowMs,
      dataVolumes: [dataVolume],
      snapshots: snapshot ? [snapshot] : [],
    });
    const status = VMDiskImage.parse({ ...now, status: { ...now.status, ...statuses[0] } }).status;
    now = { ...now, ...(status ? { status } : {}) };
    if (statuses[0]) said.push(`${actions.at(-1)?.do === 'recordEvent' ? '' : 'no '}Event: ${now.status?.message}`);
  }
  const secret = 'snapshotter says: Failed to';
  expect(said).toEqual([
    expect.stringMatching(
      `^Event: Downloaded; waiting for the snapshot. The ${secret} create snapshot: .*"cannot get credentials`,
    ),
    expect.stringMatching(
      `^Event: Downloaded; waiting for the snapshot. The ${secret} check and update snapshot content: `,
    ),
    'Event: Downloaded; waiting for the snapshot.',
  ]);
});
