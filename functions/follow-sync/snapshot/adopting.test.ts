import { describe, expect, test } from 'vitest';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import {
  adoptSnapshot,
  imageUidLabel,
  type VMDiskImage,
  type VMDiskImageStatus,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import {
  aDataVolume,
  aSnapshot,
  at,
  aVMDiskImage,
  type ImageOptions,
  start,
} from '../../../test/support/builders/images.ts';
import { followSyncOf, only, statusesIn } from '../../../test/support/harness/image-decisions.ts';
import type { Observed } from '../observed.ts';

const annotations = { [adoptSnapshot]: 'golden' };

const waiting = (status: VMDiskImageStatus = {}, more: ImageOptions = {}) =>
  aVMDiskImage({
    annotations,
    ...more,
    status: {
      phase: 'Snapshotting',
      revision: 1,
      attempt: 0,
      adoption: { snapshot: 'golden', revision: status.revision ?? 1 },
      contentDigest: contentDigest(aVMDiskImage({ annotations })),
      ...status,
    },
  });

interface Found {
  labels?: Record<string, string>;
  leaving?: boolean;
  snapshotClass?: string;
  status?: Record<string, unknown>;
}

const golden = ({ labels, leaving, snapshotClass, status = { readyToUse: true, restoreSize: '20Gi' } }: Found = {}) =>
  VolumeSnapshot.parse({
    metadata: {
      name: 'golden',
      namespace: 'vmdi-farm',
      uid: 'uid-golden',
      labels,
      ...(leaving ? { deletionTimestamp: at(0) } : {}),
    },
    spec: snapshotClass ? { volumeSnapshotClassName: snapshotClass } : {},
    status,
  });

function reconcile(image: VMDiskImage, snapshots: VolumeSnapshot[], more: Partial<Observed> = {}) {
  const actions = followSyncOf(image, { snapshots, ...more });
  const statuses = statusesIn(actions);
  const deleted = only(actions, 'delete').map(({ of }) => of.metadata.name);
  return { actions, statuses, deleted, condition: (statuses[0]?.conditions as { reason: string }[] | undefined)?.[0] };
}

describe('a snapshot that is ready', () => {
  test('makes the image Succeeded: it is the one machines are cloned from', () => {
    const { statuses, actions } = reconcile(waiting(), [golden()]);
    expect(statuses).toMatchObject([
      {
        phase: 'Succeeded',
        snapshot: { name: 'golden', revision: 1, restoreSize: '20Gi' },
        conditions: [{ type: 'Ready', status: 'True', reason: 'SnapshotAdopted' }],
      },
    ]);
    expect(statuses[0]?.message).toContain('It is not deleted with the image.');
    expect(actions).toMatchObject([{}, { do: 'recordEvent', type: 'Normal' }, { do: 'publish' }]);
  });
  test.each<[string, Found]>([
    ['of the class that is wanted', { snapshotClass: 'ebs-snapshot' }],
    ['with an error of before', { status: { readyToUse: true, error: { message: 'throttled' } } }],
    ['of unknown size', { status: { readyToUse: true } }],
    ['of just the size of the disk', { status: { readyToUse: true, restoreSize: '24Gi' } }],
  ])('%s will do', (_, found) => {
    expect(reconcile(waiting(), [golden(found)]).statuses).toMatchObject([{ phase: 'Succeeded' }]);
  });
  test('waits for start-sync to take in a spec that was changed since', () => {
    expect(reconcile(waiting({ contentDigest: 'another' }), [golden()]).actions).toEqual([]);
  });
  test('waits for start-sync to take in an annotation that was changed since', () => {
    const other = waiting({}, { annotations: { [adoptSnapshot]: 'silver' } });
    expect(reconcile(other, [golden()]).actions).toEqual([]);
    expect(reconcile(waiting({}, { annotations: {} }), [golden()]).actions).toEqual([]);
  });
  test('is no reason to move an image that is being deleted', () => {
    expect(reconcile(waiting({}, { deleted: true }), [golden()]).actions).toEqual([]);
  });
});

describe('a snapshot that cannot be adopted yet', () => {
  test.each<[string, Found | undefined, string, RegExp]>([
    ['not there', undefined, 'SnapshotMissing', /^Expected VolumeSnapshot golden in namespace vmdi-farm, found none/],
    ['not ready', { status: { readyToUse: false } }, 'SnapshotNotReady', /No error is reported/],
    ['without a status', { status: {} }, 'SnapshotNotReady', /No error is reported/],
    ['failing', { status: { error: { message: 'throttled' } } }, 'SnapshotNotReady', /throttled\.$/],
    ['being deleted', { leaving: true }, 'SnapshotTerminating', /is being deleted/],
    ['of another class', { snapshotClass: 'ceph' }, 'SnapshotClassMismatch', /class ebs-snapshot, found ceph/],
    [
      'larger than the disk',
      { status: { readyToUse: true, restoreSize: '25Gi' } },
      'SnapshotTooLarge',
      /diskSize 24Gi, found restoreSize 25Gi/,
    ],
    ["another image's", { labels: { [imageUidLabel]: 'uid-other' } }, 'SnapshotOfAnotherImage', /uid uid-other/],
  ])('because it is %s is waited for, and Ready says why', (_, found, reason, message) => {
    const { statuses, condition, actions } = reconcile(waiting(), found ? [golden(found)] : []);
    expect(condition).toMatchObject({ type: 'Ready', status: 'False', reason });
    expect(statuses[0]?.message).toMatch(message);
    expect(statuses[0]).not.toHaveProperty('phase');
    expect(actions).toMatchObject([{}, { do: 'recordEvent', type: 'Warning', reason }]);
  });
  test('because no object can have its name is reported', () => {
    const named = waiting({ adoption: { snapshot: '..', revision: 1 } }, { annotations: { [adoptSnapshot]: '..' } });
    expect(reconcile(named, []).condition).toMatchObject({ reason: 'SnapshotNameInvalid' });
  });
  test('is reported once, and again only for another cause', () => {
    const { statuses } = reconcile(waiting(), []);
    const said = waiting(statuses[0] as VMDiskImageStatus);
    expect(reconcile(said, []).actions).toEqual([]);
    expect(reconcile(said, [golden({ leaving: true })]).condition).toMatchObject({ reason: 'SnapshotTerminating' });
  });
  test('leaves an image Ready that has a usable one of before', () => {
    const second = waiting({ revision: 2, snapshot: { name: 'before', revision: 1 } });
    expect(reconcile(second, []).condition).toMatchObject({ status: 'True', reason: 'SnapshotMissing' });
  });
  test('is waited for however long', () => {
    expect(reconcile(waiting(), [], { nowMs: start + 1e12 }).statuses[0]).not.toHaveProperty('phase');
  });
});

describe('what remains of earlier attempts', () => {
  const second = { revision: 2, attempt: 0, adoption: { snapshot: 'golden', revision: 2 } };
  test('the volume of an attempt that adoption ended goes at once', () => {
    const earlier = aVMDiskImage({ status: { revision: 1, attempt: 1 } });
    const dataVolume = aDataVolume(earlier);
    expect(reconcile(waiting(second), [], { dataVolumes: [dataVolume] }).deleted).toEqual([dataVolume.metadata.name]);
  });
  test('so does the volume of an attempt that has the number of the adopted revision, after a user wiped the status', () => {
    const dataVolume = aDataVolume(aVMDiskImage({ status: { revision: 1, attempt: 1 } }), { phase: 'Succeeded' });
    const done = waiting({ phase: 'Succeeded', snapshot: { name: 'golden', revision: 1 } });
    expect(reconcile(done, [golden()], { dataVolumes: [dataVolume] }).deleted).toEqual([dataVolume.metadata.name]);
  });
  const policy = parsePolicy({ data: { keepRevisions: '1' } });
  test('the snapshot of before goes when the image has adopted another', () => {
    const done = waiting({ ...second, phase: 'Succeeded', snapshot: { name: 'golden', revision: 2 } });
    const own = aSnapshot(done, { revision: 1, ready: true });
    expect(reconcile(done, [own, golden()], { policy }).deleted).toEqual([own.metadata.name]);
    expect(reconcile(waiting(second), [own, golden()]).deleted).toEqual([]);
  });
  const downloaded = (labels?: Record<string, string>) => {
    const image = waiting({ revision: 2, phase: 'Succeeded', adoption: { snapshot: 'golden', revision: 1 } });
    const own = aSnapshot(image, { revision: 2, ready: true });
    const after = waiting({ ...image.status, snapshot: { name: own.metadata.name, revision: 2 } });
    return reconcile(after, [own, golden(labels ? { labels } : {})], { policy }).deleted;
  };
  test('an adopted snapshot that is replaced stays, unless it carries the label of the image', () => {
    expect(downloaded()).toEqual([]);
    expect(downloaded({ [imageUidLabel]: 'uid-other' })).toEqual([]);
    expect(downloaded({ [imageUidLabel]: 'uid-ubuntu' })).toEqual(['golden']);
  });
  test('a snapshot in use is never deleted, whatever label it carries', () => {
    const done = waiting({ phase: 'Succeeded', snapshot: { name: 'golden', revision: 1 } });
    expect(reconcile(done, [golden({ labels: { [imageUidLabel]: 'uid-ubuntu' } })]).deleted).toEqual([]);
  });
});

test('an adopted snapshot that is gone is lost', () => {
  const done = waiting({ phase: 'Succeeded', snapshot: { name: 'golden', revision: 1 } });
  expect(reconcile(done, [], { isSnapshotGone: true }).statuses[0]?.conditions).toMatchObject([
    { type: 'Ready', status: 'False' },
    { type: 'SnapshotLost', status: 'True' },
    { type: 'Stalled', status: 'True' },
  ]);
  expect(reconcile(done, [golden()]).actions).toEqual([]);
});
