import { describe, expect, test } from 'vitest';
import type { VMDiskImage, VMDiskImageStatus } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { contentDigest } from '../../shared/rules/content-digest.ts';
import { parsePolicy } from '../../shared/rules/policy.ts';
import { aDataVolume, aSnapshot, at, aVMDiskImage, type ImageOptions, start } from '../../test/builders.ts';
import { decide } from './decide.ts';
import type { Observed } from './observed.ts';

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

function pass(found: VMDiskImage, more: Partial<Observed> & { data?: Record<string, string> } = {}) {
  const { data = {}, ...rest } = more;
  const actions = decide({
    nowMs: start + 60_000,
    policy: parsePolicy({ data }),
    image: found,
    dataVolumes: [],
    pods: [],
    snapshots: [],
    isSnapshotGone: false,
    isAudit: false,
    refusals: new Map(),
    ...rest,
  });
  const statuses = actions.filter((action) => action.do === 'patchStatus').map(({ status }) => status);
  const verbs = actions.map(({ do: verb }) => verb).filter((verb) => !['record', 'tell', 'measure'].includes(verb));
  return { actions, verbs, statuses };
}

const bound = { phase: 'Succeeded', running: { status: 'False', reason: 'Completed' }, bound: { status: 'True' } };
const waiting = image({ phase: 'Snapshotting', message: 'Downloaded; waiting for the snapshot.' });
const volume = aDataVolume(waiting, bound);
const ready = aSnapshot(waiting, { ready: true });
const leaving = aSnapshot(waiting, { ready: true, leaving: true });
const { name } = ready.metadata;

/** The image after that write. */
const after = (status: VMDiskImageStatus, patch: Record<string, unknown> | undefined) =>
  image(Object.fromEntries(Object.entries({ ...status, ...patch }).filter(([, value]) => value !== null)));

describe('a snapshot that is being deleted', () => {
  test('makes no image Succeeded, and another is cut when it is gone', () => {
    expect(pass(waiting, { dataVolumes: [volume], snapshots: [leaving] }).actions).toEqual([]);
    expect(pass(waiting, { dataVolumes: [volume] }).verbs).toEqual(['create']);
  });
  test('is lost to an image at rest: CSI clones nothing from it any more', () => {
    const done = image({ phase: 'Succeeded', snapshot: { name, revision: 1 } });
    const { statuses } = pass(done, { snapshots: [leaving] });
    expect(statuses).toMatchObject([{ conditions: [{ type: 'Ready', status: 'False' }, { type: 'SnapshotLost' }] }]);
    expect(statuses[0]?.message).toContain(`The snapshot ${name} is being deleted;`);
  });
});

describe('the volume of an image that has Succeeded', () => {
  const done = image({ phase: 'Succeeded', snapshot: { name, revision: 1 } });
  test('goes once its snapshot is there', () => {
    expect(pass(done, { dataVolumes: [volume], snapshots: [ready] }).verbs).toEqual(['delete']);
  });
  test.each([
    ['is in no list', { snapshots: [] }],
    ['is not ready any more', { snapshots: [aSnapshot(done)] }],
    ['is being deleted', { snapshots: [leaving] }],
    ['is gone', { isSnapshotGone: true }],
    ['has lost its content', { snapshots: [aSnapshot(done, { error: 'VolumeSnapshotContent is missing' })] }],
  ])('stays where its snapshot %s: it is the last copy', (_, more) => {
    expect(pass(done, { dataVolumes: [volume], ...more }).verbs).not.toContain('delete');
  });
  test.each<[string, Partial<Observed>, string[]]>([
    ['gone', { isSnapshotGone: true }, ['create']],
    ['being deleted', { snapshots: [leaving] }, []],
    [
      'without its content',
      { snapshots: [aSnapshot(done, { error: 'VolumeSnapshotContent is missing' })] },
      ['delete'],
    ],
  ])('is what another snapshot is cut from where the first is %s: nothing is downloaded', (_, more, verbs) => {
    const { statuses } = pass(done, { dataVolumes: [volume], ...more });
    expect(statuses).toMatchObject([
      {
        phase: 'Snapshotting',
        snapshottingAt: at(60).replace('.000Z', 'Z'),
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'SnapshotLost', status: 'True' },
        ],
      },
    ]);
    const again = after(done.status ?? {}, statuses[0]);
    expect(pass(again, { dataVolumes: [volume], ...more }).verbs).toEqual(verbs);
    expect(pass(again, { dataVolumes: [volume], snapshots: [ready] }).statuses).toMatchObject([
      {
        phase: 'Succeeded',
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'SnapshotLost', status: 'False' },
        ],
      },
    ]);
  });
  test('is cut from no second time where somebody else has a snapshot of the name', () => {
    const theirs = { ...ready, metadata: { ...ready.metadata, labels: {} } };
    const { statuses } = pass(done, { dataVolumes: [volume], snapshots: [theirs] });
    expect(statuses[0]).not.toHaveProperty('phase');
  });
});
