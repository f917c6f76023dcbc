import { describe, expect, test } from 'vitest';
import { parsePolicy } from '../../../shared/policy.ts';
import { aDataVolume, anImporter, at, aVMDiskImage, start } from '../../../test/support/builders/images.ts';
import { followSyncOf, statusesIn } from '../../../test/support/harness/image-decisions.ts';
import { cloneFailureOf } from './clone.ts';

const image = aVMDiskImage({
  status: {
    phase: 'Syncing',
    revision: 1,
    attempt: 1,
    attempts: 1,
    startedAt: at(0),
    sharedFrom: { image: 'first', snapshot: 'first-r1' },
  },
});
type Volume = Parameters<typeof aDataVolume>[1];
const policy = parsePolicy({ data: { startTimeout: '5m', syncTimeout: '1h' } });

const judge = (volume: Volume, seconds: number) =>
  cloneFailureOf({ nowMs: start + seconds * 1000, image, policy, dataVolume: aDataVolume(image, volume) });

const scheduled = { phase: 'CloneScheduled', running: { status: 'False', reason: 'Pending' } };
const without = { ...scheduled, bound: { status: 'False', reason: 'CloneWithoutSource', message: 'no such snapshot' } };
const broken = {
  phase: 'CloneFromSnapshotSourceInProgress',
  running: { status: 'False', reason: 'Error', message: 'claim tmp-pvc does not exist', lastTransitionTime: at(50) },
};
const copying = { phase: 'CloneInProgress' };

test.each<[string, Volume, number, string | undefined]>([
  ['goes on', scheduled, 60, undefined],
  ['is copied for long', copying, 3000, undefined],
  ['met an error a moment ago, as many do', broken, 51, undefined],
  ['has an error that lasts', broken, 60, 'CloneFailed'],
  ['misses its source a moment ago', without, 9, undefined],
  ['has lost its source', without, 10, 'CloneFailed'],
  ['is Failed', { phase: 'Failed' }, 1, 'DataVolumeFailed'],
  ['does not begin', scheduled, 300, 'NotStarted'],
  ['does not end', copying, 3600, 'SyncTimeout'],
])('a clone that %s', (_, volume, seconds, reason) => {
  expect(judge(volume, seconds)?.reason).toBe(reason);
});

function reconcile(volume: Volume, seconds = 60) {
  const actions = followSyncOf(image, {
    nowMs: start + seconds * 1000,
    policy,
    dataVolumes: [aDataVolume(image, volume)],
    // CDI's own Pods for a clone carry the labels of its DataVolume.
    pods: [anImporter(image, { restarts: 1, phase: 'Failed' })],
  });
  return { actions, status: statusesIn(actions)[0] };
}

describe('an attempt that is a clone', () => {
  test('is not judged by its Pods', () => {
    expect(reconcile({ phase: 'CloneFromSnapshotSourceInProgress' }).actions).toEqual([]);
  });
  test('says what is in the way, and is looked at again', () => {
    const { actions, status } = reconcile(without, 5);
    const message =
      'Being cloned from the snapshot of VMDiskImage first. CDI says: CloneWithoutSource: no such snapshot.';
    expect(status).toMatchObject({
      message,
      conditions: [
        { reason: 'SyncBlocked', message },
        { reason: 'SyncBlocked', message },
      ],
    });
    expect(actions.at(-1)).toMatchObject({ do: 'requeueAfter' });
  });
  test('says that it goes on once nothing is in the way', () => {
    const [blocked] = statusesIn(reconcile(without, 5).actions);
    const after = { ...image, status: { ...image.status, ...blocked } } as typeof image;
    const actions = followSyncOf(after, {
      nowMs: start + 60_000,
      policy,
      dataVolumes: [aDataVolume(after, { phase: 'CloneInProgress' })],
      pods: [],
    });
    expect(statusesIn(actions)).toMatchObject([
      {
        message: 'Being cloned from the snapshot of VMDiskImage first.',
        conditions: [{ reason: 'SyncStarted' }, { reason: 'SyncStarted' }],
      },
    ]);
  });
  test('is given up uncounted, without a byte, and remembered, so that the next attempt downloads', () => {
    const { actions, status } = reconcile(without);
    expect(status).toMatchObject({ phase: 'Retrying', attempts: 0 });
    expect(status).not.toHaveProperty('sharedFrom');
    expect(status?.message).toContain('is downloaded instead. CloneWithoutSource: no such snapshot.');
    expect(actions.at(-1)).toMatchObject({ do: 'delete' });
    expect(JSON.stringify(actions)).not.toContain('ot.image.download.estimated');
  });
  test('that is done gets its own snapshot, and has downloaded nothing', () => {
    const { actions, status } = reconcile({ phase: 'Succeeded', bound: { status: 'True' } });
    expect(status).toMatchObject({ phase: 'Snapshotting', message: 'Cloned; waiting for the snapshot.' });
    expect(actions.some((action) => action.do === 'create')).toBe(true);
    expect(JSON.stringify(actions)).toContain('ot.image.sync.attempts');
    expect(JSON.stringify(actions)).not.toContain('ot.image.download.estimated');
  });
});
