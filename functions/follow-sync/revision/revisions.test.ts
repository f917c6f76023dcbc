import { describe, expect, test } from 'vitest';
import { snapshotName } from '../../../shared/images/children.ts';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import { useRevision, type VMDiskImage, type VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { aDataVolume, aSnapshot, at, aVMDiskImage, type ImageOptions } from '../../../test/support/builders/images.ts';
import { followSyncOf, only, statusesIn } from '../../../test/support/harness/image-decisions.ts';
import type { Observed } from '../observed.ts';

const plain = aVMDiskImage();
const nameOf = (revision: number) => snapshotName(plain.metadata, revision);
const entry = (revision: number) => ({ revision, snapshot: nameOf(revision) });
const held = (revision: number) => ({ name: nameOf(revision), revision });

/** An image at that revision, with a snapshot of each revision up to it; it uses the newest. */
const at3 = (status: VMDiskImageStatus = {}, more: ImageOptions = {}) =>
  aVMDiskImage({
    ...more,
    status: {
      phase: 'Succeeded',
      revision: 3,
      attempt: 1,
      attempts: 1,
      contentDigest: contentDigest(plain),
      conditions: [{ type: 'Ready', status: 'True', reason: 'SnapshotReady', message: '', lastTransitionTime: at(0) }],
      snapshot: held(3),
      revisions: [entry(3), entry(2), entry(1)],
      ...status,
    },
  });
const asking = (revision: string) => ({ annotations: { [useRevision]: revision } });
const cut = (...revisions: number[]) => revisions.map((revision) => aSnapshot(plain, { revision, ready: true }));
/** Another user's snapshot with the name of that revision's. */
const ofAnother = (revision: number) => {
  const [snapshot = aSnapshot(plain)] = cut(revision);
  return { ...snapshot, metadata: { ...snapshot.metadata, labels: {} } };
};
const pinned = (revision: number): NonNullable<VMDiskImageStatus['conditions']> => [
  { type: 'Ready', status: 'True', reason: 'SnapshotReady', message: '', lastTransitionTime: at(0) },
  {
    type: 'RevisionPinned',
    status: 'True',
    reason: 'RevisionPinned',
    message: `${revision}`,
    lastTransitionTime: at(0),
  },
];

function reconcile(image: VMDiskImage, snapshots: Observed['snapshots'], data = {}, more: Partial<Observed> = {}) {
  const actions = followSyncOf(image, { snapshots, data, ...more });
  const [status] = statusesIn(actions);
  const deleted = only(actions, 'delete').map(({ of }) => of.metadata.name);
  return { actions, status, deleted, verbs: actions.map(({ do: verb }) => verb) };
}

describe('the revisions of an image', () => {
  test('the newest two are kept, and the list is written before a snapshot is deleted', () => {
    const { verbs, status, deleted } = reconcile(at3(), cut(1, 2, 3));
    expect(verbs).toEqual(['patchStatus', 'delete']);
    expect(status).toEqual({ revisions: [entry(3), entry(2)] });
    expect(deleted).toEqual([nameOf(1)]);
  });
  test.each([
    ['keepRevisions are kept', at3(), cut(1, 2, 3), { keepRevisions: '3' }, []],
    ['the revision in use is always kept', at3(), cut(1, 2, 3), { keepRevisions: '1' }, [1, 2]],
    ['the revision in use is kept, however old', at3({ snapshot: held(1) }), cut(1, 2, 3), { keepRevisions: '1' }, [2]],
    ['all are kept while keepRevisions does not parse', at3(), cut(1, 2, 3), { keepRevisions: '0' }, []],
    ['another is kept in place of a lost one', at3(), cut(1, 3), {}, []],
    ['another is kept in place of one whose name another snapshot has', at3(), [...cut(1, 3), ofAnother(2)], {}, []],
    ['an unfinished one is not kept, even if its number is higher', at3(), cut(2, 3, 7), {}, [7]],
    [
      'all are kept unless the one in use is observed to be usable',
      at3(),
      [...cut(1, 2), aSnapshot(plain, { revision: 3 })],
      {},
      [],
    ],
    [
      'all are kept if the one in use is being deleted',
      at3(),
      [...cut(1, 2), aSnapshot(plain, { revision: 3, ready: true, leaving: true })],
      {},
      [],
    ],
    ['all are kept while another is downloaded', at3({ phase: 'Syncing', revision: 4 }), cut(1, 2, 3), {}, []],
  ] as const)('%s', (_, image, snapshots, data, gone) => {
    expect(reconcile(image, snapshots, data).deleted).toEqual(gone.map(nameOf));
  });
  test('are found by their snapshots if the status has lost the list', () => {
    const { revisions: _, ...status } = at3().status ?? {};
    expect(reconcile(aVMDiskImage({ status }), cut(1, 2, 3)).status).toEqual({ revisions: [entry(3), entry(2)] });
  });
  test('a revision that becomes ready is listed first, with its url', () => {
    const spec = { url: 'https://s3.eu-west-1.amazonaws.com/images/a.qcow2?X-Amz-Signature=abc' };
    const digest = contentDigest(aVMDiskImage({ spec }));
    const waiting = at3({ phase: 'Snapshotting', revision: 4, contentDigest: digest }, { spec });
    const volume = aDataVolume(waiting, { phase: 'Succeeded' });
    const { status } = reconcile(waiting, cut(3, 4), {}, { dataVolumes: [volume] });
    const url = 'https://s3.eu-west-1.amazonaws.com/images/a.qcow2';
    expect(status).toMatchObject({ phase: 'Succeeded', snapshot: held(4) });
    const listed = { ...entry(4), url, completedAt: '2026-01-01T00:01:00Z' };
    expect(status?.revisions).toEqual([listed, entry(3), entry(2), entry(1)]);
  });
});

describe('an annotation that names a revision', () => {
  test('that is kept makes machines clone from it, without a download', () => {
    const { actions, status } = reconcile(at3({}, asking('2')), cut(2, 3));
    expect(status).toMatchObject({
      snapshot: { ...held(2), restoreSize: '24Gi' },
      message: `Revision 2 is used, as annotation pelotech.ot/use-revision says: machines are cloned from snapshot ${nameOf(2)}.`,
    });
    expect(status?.conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
      { type: 'RevisionPinned', status: 'True' },
      { type: 'SnapshotLost', status: 'False' },
    ]);
    expect(actions.slice(1)).toMatchObject([
      { do: 'recordEvent', type: 'Normal', reason: 'RevisionPinned' },
      { do: 'publish', type: 'ot.pelotech.disk-image.ready.v1', data: { revision: 2, phase: 'Succeeded' } },
    ]);
  });
  test('takes effect once', () => {
    expect(reconcile(at3({ snapshot: held(2), conditions: pinned(2) }, asking('2')), cut(2, 3)).actions).toEqual([]);
  });
  test.each(['Queued', 'Syncing', 'Failed'])('takes effect in phase %s, too', (phase) => {
    const { status, actions } = reconcile(at3({ phase, revision: 4 }, asking('2')), cut(2, 3));
    expect(status).toMatchObject({ snapshot: held(2) });
    expect(status).not.toHaveProperty('message');
    expect(actions.at(-1)).toMatchObject({ type: 'ot.pelotech.disk-image.ready.v1', data: { revision: 2, phase } });
  });
  test.each([
    ['is not kept', '1'],
    ['is no number', 'last'],
    ['is lost', '2'],
  ])('that %s changes nothing, and is reported once', (_, asked) => {
    const snapshots = cut(3);
    const { verbs, status, actions } = reconcile(at3({}, asking(asked)), snapshots);
    expect(verbs).toEqual(['patchStatus', 'recordEvent']);
    expect(Object.keys(status ?? {})).toEqual(['conditions']);
    const message = `Expected annotation pelotech.ot/use-revision to name a revision that is kept (3), found "${asked}". Nothing is changed.`;
    expect(actions[1]).toMatchObject({ type: 'Warning', reason: 'RevisionNotKept', message });
    expect(reconcile(at3(status as VMDiskImageStatus, asking(asked)), snapshots).actions).toEqual([]);
  });
  test('that names a revision whose adopted snapshot does not exist changes nothing', () => {
    const revisions = [entry(3), { revision: 2, snapshot: 'by-hand' }];
    const { status } = reconcile(at3({ revisions }, asking('2')), cut(3));
    expect(status?.conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
      { type: 'RevisionPinned', status: 'False', reason: 'RevisionNotKept' },
    ]);
    expect(status).not.toHaveProperty('snapshot');
  });
  test('that names a revision whose snapshot is lost, and whose name another snapshot has, changes nothing', () => {
    const { status } = reconcile(at3({}, asking('2')), [...cut(3), ofAnother(2)]);
    expect(status?.conditions).toMatchObject([{ status: 'True' }, { reason: 'RevisionNotKept' }]);
    expect(status).not.toHaveProperty('snapshot');
  });
  test('that names an earlier revision which was adopted makes machines clone from it', () => {
    const revisions = [entry(3), { revision: 2, snapshot: 'by-hand' }];
    const snapshots = [...cut(3), { ...ofAnother(2), metadata: { ...ofAnother(2).metadata, name: 'by-hand' } }];
    const { status } = reconcile(at3({ revisions }, asking('2')), snapshots);
    expect(status).toMatchObject({ snapshot: { name: 'by-hand', revision: 2 } });
    const then = at3({ revisions, ...(status as VMDiskImageStatus) }, asking('2'));
    expect(reconcile(then, snapshots).actions).toEqual([]);
  });
  test('stays in effect when a later revision is ready, which is used once the annotation is removed', () => {
    const more = { phase: 'Snapshotting', revision: 4, snapshot: held(2), conditions: pinned(2) };
    const waiting = at3(more, asking('2'));
    const { status } = reconcile(
      waiting,
      cut(2, 3, 4),
      {},
      { dataVolumes: [aDataVolume(waiting, { phase: 'Succeeded' })] },
    );
    expect(status).toMatchObject({ phase: 'Succeeded', revisions: [entry(4), entry(3), entry(2), entry(1)] });
    expect(status).not.toHaveProperty('snapshot');
    expect(status?.message).toMatch(
      /^Snapshot \S+-r4 is ready\. Revision 2 is used until annotation pelotech\.ot\/use-revision is removed\.$/,
    );
  });
  test('that is removed makes the newest be used again', () => {
    const { status, actions } = reconcile(at3({ snapshot: held(2), conditions: pinned(2) }), cut(2, 3));
    expect(status).toMatchObject({
      snapshot: held(3),
      conditions: [{ type: 'Ready', status: 'True' }, { type: 'SnapshotLost' }],
    });
    expect(actions[1]).toMatchObject({ reason: 'NewestUsed' });
  });
  test('that is removed while the newest is lost reports SnapshotLost, and does not use another content', () => {
    const { status, verbs } = reconcile(at3({ snapshot: held(2), conditions: pinned(2) }), cut(2));
    expect(verbs).not.toContain('publish');
    expect(status).toMatchObject({ snapshot: held(3) });
    expect(status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False' },
      { type: 'SnapshotLost', status: 'True' },
      { type: 'Stalled', status: 'True' },
    ]);
  });
  test('that is removed while another snapshot has the name of the newest reports SnapshotLost', () => {
    const { status } = reconcile(at3({ snapshot: held(2), conditions: pinned(2) }), [...cut(2), ofAnother(3)]);
    expect(status?.snapshot).toEqual(held(3));
    expect(status?.conditions).toMatchObject([
      { status: 'False' },
      { type: 'SnapshotLost', status: 'True' },
      { type: 'Stalled', status: 'True' },
    ]);
  });
  test('is ignored on an image without a phase, and on an image that is being deleted', () => {
    expect(reconcile(aVMDiskImage(asking('2')), []).actions).toEqual([]);
    expect(reconcile(at3({}, { ...asking('2'), deleted: true }), cut(2, 3)).actions).toEqual([]);
  });
});
