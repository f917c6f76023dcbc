import { expect, test } from 'vitest';
import type { VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { at, aVMDiskImage } from '../../support/builders/images.ts';
import { aHistory, aPolicy, download, gone, granted, snapshot } from './a-history.ts';
import { compare } from './check.ts';

/** An image of a run: its uid differs in each run. */
const inRun = (uid: string) => (status: VMDiskImageStatus) => aVMDiskImage({ uid, status: { revision: 1, ...status } });

/** A sync that succeeds at its last attempt; `second` shifts its times. */
function run(uid: string, { attempts = 1, second = 0 } = {}) {
  const image = inRun(uid);
  const tries = Array.from({ length: attempts }, (_, index) => {
    const syncing = image({ phase: 'Syncing', attempt: index + 1, startedAt: at(second) });
    const isLast = index + 1 === attempts;
    const end = isLast ? [] : [image({ phase: 'Retrying', attempt: index + 1 }), gone(download(syncing))];
    return [granted(syncing), syncing, download(syncing), ...end];
  }).flat();
  const last = image({ phase: 'Syncing', attempt: attempts });
  const made = snapshot(last, { ready: true });
  const succeeded = image({
    phase: 'Succeeded',
    attempt: attempts,
    completedAt: at(second),
    snapshot: { name: made.metadata.name, revision: 1 },
  });
  return [aVMDiskImage({ uid }), ...tries, granted(), made, succeeded, gone(download(last))];
}

const reference = aHistory(run('uid-1'));

test('L5: uids, names and times do not matter', () => {
  expect(compare(reference, aHistory(run('uid-2', { second: 60 })))).toEqual([]);
});

test('L5: an additional DataVolume for each failed attempt is allowed', () => {
  expect(compare(reference, aHistory(run('uid-2', { attempts: 3 })))).toEqual([]);
});

test('L5: an additional DataVolume without an attempt is reported', () => {
  const syncing = inRun('uid-2')({ phase: 'Syncing', attempt: 1 });
  const again = [download(syncing), gone(download(syncing))];
  const [violation, ...others] = compare(reference, aHistory([...run('uid-2'), ...again]));
  expect(others).toEqual([]);
  expect(violation).toMatchObject({ invariant: 'L5', revision: '110' });
  expect(violation?.message).toMatch(/^DataVolume.* expected 1 created and 1 deleted, found 2 created and 2 deleted$/);
});

test('L5: another final state is reported: a missing snapshot, another phase, another policy, an occupied slot', () => {
  const differs = (more: Parameters<typeof aHistory>[0], message: RegExp) => {
    const found = compare(reference, aHistory([...run('uid-2'), ...more])).map((violation) => violation.message);
    expect(found.join('\n')).toMatch(message);
  };
  const image = inRun('uid-2');
  differs([gone(snapshot(image({})))], /VolumeSnapshot.* expected one in the end, found none/);
  differs([image({ phase: 'Failed' })], /VMDiskImage.* expected .*"phase":"Succeeded".* found .*"phase":"Failed"/);
  differs([aPolicy({})], /ConfigMap.* expected none in the end, found one/);
  differs([granted(image({}))], /Lease.* found \["vmdi-farm\/ubuntu"\]/);
});

test('S16: events that are delivered again create and delete nothing more', () => {
  const isReplay = true;
  expect(compare(reference, aHistory(run('uid-2')), { isReplay })).toEqual([]);
  const found = compare(reference, aHistory(run('uid-2', { attempts: 2 })), { isReplay });
  expect(found).toMatchObject([
    { invariant: 'S16', message: expect.stringContaining('found 2 created and 2 deleted') },
  ]);
});
