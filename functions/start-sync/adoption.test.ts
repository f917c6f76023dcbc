import { describe, expect, test } from 'vitest';
import { adoptSnapshot, type VMDiskImage, type VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { aDataVolume, aHolder, aLease, anImporter, at, aVMDiskImage } from '../../test/support/builders/images.ts';
import { known, startSyncOf, statusesIn, verbsIn } from '../../test/support/harness/image-decisions.ts';

const golden = { [adoptSnapshot]: 'golden' };
const adopted = { snapshot: 'golden', revision: 1 };

function reconcile(image: VMDiskImage, more?: Parameters<typeof startSyncOf>[1]) {
  const actions = startSyncOf([image], more);
  return { actions, statuses: statusesIn(actions), verbs: verbsIn(actions) };
}

describe('an image that names a snapshot to adopt', () => {
  test('goes past queue and slots when it is new', () => {
    const { statuses, verbs } = reconcile(aVMDiskImage({ annotations: golden, finalizers: [] }));
    expect(statuses).toMatchObject([{ phase: 'Snapshotting', revision: 1, adoption: adopted, attempts: 0 }]);
    expect(statuses[0]?.queuedAt).toBeNull();
    expect(verbs).toEqual(['patchStatus', 'patchMetadata']);
  });
  test('needs no class and no allowed source: nothing is downloaded', () => {
    const { statuses } = reconcile(aVMDiskImage({ annotations: golden, spec: { storageClass: 'gone' } }));
    expect(statuses).toMatchObject([{ phase: 'Snapshotting' }]);
  });
  test.each<VMDiskImageStatus['phase']>(['Queued', 'Retrying', 'Failed', 'Succeeded', 'Snapshotting', 'Syncing'])(
    'leaves %s for it, as another revision',
    (phase) => {
      const { statuses } = reconcile(known({ annotations: golden, status: { phase, nextAttemptAt: at(9_999) } }));
      expect(statuses).toMatchObject([
        { phase: 'Snapshotting', revision: 2, adoption: { snapshot: 'golden', revision: 2 }, nextAttemptAt: null },
      ]);
    },
  );
  test('ends a running attempt; its slot is free when its importer is gone', () => {
    const syncing = known({ annotations: golden, status: { phase: 'Syncing', attempt: 1, startedAt: at(0) } });
    const lease = aLease([aHolder(syncing)]);
    const { actions, verbs } = reconcile(syncing, {
      lease,
      dataVolumes: [aDataVolume(syncing)],
      pods: [anImporter(syncing)],
    });
    expect(verbs).toEqual(['patchStatus']);
    expect(actions).toContainEqual(
      expect.objectContaining({
        metric: 'ot.image.sync.attempts',
        attributes: { result: 'superseded', reason: 'Adopting' },
      }),
    );
    const adopting = known({
      annotations: golden,
      status: {
        ...syncing.status,
        phase: 'Snapshotting',
        revision: 2,
        attempt: 0,
        adoption: { snapshot: 'golden', revision: 2 },
      },
    });
    expect(reconcile(adopting, { lease, pods: [anImporter(syncing)] }).verbs).toEqual([]);
    expect(reconcile(adopting, { lease }).verbs).toEqual(['replace']);
  });
  test('that has DataVolumes under a status that was wiped leaves them for an earlier revision', () => {
    const before = aVMDiskImage({ status: { revision: 1, attempt: 2 } });
    const { statuses } = reconcile(aVMDiskImage({ annotations: golden }), { dataVolumes: [aDataVolume(before)] });
    expect(statuses).toMatchObject([{ phase: 'Snapshotting', revision: 2, attempt: 0 }]);
  });
  test('and is being deleted is left alone', () => {
    expect(reconcile(aVMDiskImage({ annotations: golden, deleted: true })).actions).toEqual([]);
  });
  test('by a name longer than any is written down as long as a status takes it', () => {
    const { statuses } = reconcile(aVMDiskImage({ annotations: { [adoptSnapshot]: 'x'.repeat(300) } }));
    expect(statuses).toMatchObject([{ adoption: { snapshot: 'x'.repeat(253) } }]);
  });
  test('by a name of white space names none', () => {
    expect(reconcile(aVMDiskImage({ annotations: { [adoptSnapshot]: ' ' } })).statuses[0]).toMatchObject({
      phase: 'Queued',
    });
  });
});

describe('an image that waits for the snapshot it adopts', () => {
  const status: VMDiskImageStatus = { phase: 'Snapshotting', adoption: adopted };
  test('is left alone, and given the finalizer that a crash left out', () => {
    expect(reconcile(known({ annotations: golden, status })).actions).toEqual([]);
    expect(reconcile(known({ annotations: golden, status, finalizers: [] })).verbs).toEqual(['patchMetadata']);
  });
  test('is given none while it is being deleted and another finalizer keeps it: the API server would refuse that', () => {
    const leaving = { annotations: golden, status, finalizers: ['other/one'], deleted: true };
    expect(reconcile(known(leaving)).actions).toEqual([]);
  });
  test('downloads nothing under another spec, either: it waits with that spec', () => {
    const { statuses } = reconcile(known({ annotations: golden, spec: { diskSize: '30Gi' }, status }, {}));
    expect(statuses).toMatchObject([
      { phase: 'Snapshotting', revision: 2, adoption: { snapshot: 'golden', revision: 2 } },
    ]);
  });
  test('waits for another one when its annotation names that', () => {
    const { statuses } = reconcile(known({ annotations: { [adoptSnapshot]: 'silver' }, status }));
    expect(statuses).toMatchObject([{ phase: 'Snapshotting', adoption: { snapshot: 'silver', revision: 2 } }]);
  });
  test('goes to the end of the line, and gets a slot, when the annotation is removed', () => {
    const { statuses } = reconcile(known({ status }));
    expect(statuses).toMatchObject([
      { phase: 'Queued', revision: 2, adoption: null, queuedAt: '2026-01-01T00:01:40.000000Z' },
      { phase: 'Syncing', attempts: 1 },
    ]);
  });
});

describe('an image that has adopted its snapshot', () => {
  const snapshot = { name: 'golden', revision: 1 };
  const status: VMDiskImageStatus = { phase: 'Succeeded', adoption: adopted, snapshot };
  test('is left alone, with the annotation and without', () => {
    expect(reconcile(known({ annotations: golden, status })).actions).toEqual([]);
    expect(reconcile(known({ status })).actions).toEqual([]);
  });
  test.each([
    ['url', { spec: { url: 'https://s3.eu-west-1.amazonaws.com/images/b.qcow2' } }],
    ['requested sync', { annotations: { ...golden, 'pelotech.ot/sync-requested': '1' } }],
  ])('downloads as any other for another %s, and stays usable meanwhile', (_, change) => {
    const { statuses } = reconcile(known({ annotations: golden, status, ...change }, {}));
    expect(statuses).toMatchObject([
      { phase: 'Queued', revision: 2, conditions: [{ type: 'Ready', status: 'True' }, { type: 'Reconciling' }] },
      { phase: 'Syncing' },
    ]);
    expect(statuses[0]).not.toHaveProperty('adoption');
  });
  test('downloads where that snapshot is lost and the image is in use', () => {
    const conditions = [
      { type: 'SnapshotLost', status: 'True' as const, reason: 'x', message: '', lastTransitionTime: at(0) },
    ];
    const lost = { ...status, conditions, references: { count: 1 } };
    expect(reconcile(known({ annotations: golden, status: lost })).statuses[0]).toMatchObject({ phase: 'Queued' });
  });
});
