import { describe, expect, test } from 'vitest';
import type { VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { at, aVMDiskImage } from '../../support/builders/images.ts';
import { aVirtualMachine } from '../../support/builders/machines.ts';
import {
  aHistory,
  aPolicy,
  by,
  download,
  expectBroken,
  expectHolds,
  gone,
  granted,
  leaving,
  snapshot,
} from './a-history.ts';
import { check } from './check.ts';
import { l1Rest } from './l1-rest.ts';
import { l3Bound } from './l3-bound.ts';
import { s5OneDataVolume } from './s5-one-data-volume.ts';
import { s6Attempts } from './s6-attempts.ts';
import { s7Backoff } from './s7-backoff.ts';
import { s8Evidence } from './s8-evidence.ts';
import { s9Phases } from './s9-phases.ts';

const condition = (status: 'True' | 'False', second = 0) => ({
  conditions: [{ type: 'Ready', status, reason: 'Some', message: '', lastTransitionTime: at(second) }],
});
const image = (status: VMDiskImageStatus) => aVMDiskImage({ status: { revision: 1, ...status } });
const queued = (attempt = 0, more: VMDiskImageStatus = {}) =>
  image({ phase: 'Queued', attempt, attempts: attempt, queuedAt: at(0), ...more });
const syncing = (attempt = 1) => image({ phase: 'Syncing', attempt, attempts: attempt });
const retrying = (attempt: number, { after = 300, attempts = attempt } = {}) =>
  image({
    phase: 'Retrying',
    attempt,
    attempts,
    nextAttemptAt: at(10 + after),
    history: [{ time: at(10), fact: 'Retrying', message: '' }],
  });
const slot = granted(syncing());
const only = (invariant: typeof s5OneDataVolume, written: Parameters<typeof aHistory>[0], options = {}) =>
  check(aHistory(written, options), [invariant]);

describe('S5', () => {
  test('two DataVolumes in succession, or one Succeeded and one in flight, are allowed', () => {
    const [one, two] = [download(syncing(1)), download(syncing(2))];
    expectHolds(aHistory([slot, one, leaving(one), two]));
    expectHolds(aHistory([slot, one, download(syncing(1), { phase: 'Succeeded' }), two]));
  });

  test('two in flight are reported', () => {
    const [one, two] = [download(syncing(1)), download(syncing(2))];
    const message = `2 DataVolumes of one image are in flight: ${one.metadata.name}, ${two.metadata.name}`;
    expectBroken(s5OneDataVolume, aHistory([slot, one, two]), '103', message);
  });

  test('a name that does not match the attempt is reported', () => {
    const { metadata, ...rest } = download(syncing(1));
    const misnamed = { ...rest, metadata: { ...metadata, name: 'ubuntu-a1' } };
    expectBroken(s5OneDataVolume, aHistory([slot, misnamed]), '102', 'DataVolume ubuntu-a1 should be named');
  });
});

describe('S6', () => {
  /** Failed attempts whose DataVolumes are deleted. */
  const tries = (count: number) =>
    Array.from({ length: count }, (_, index) => [
      syncing(index + 1),
      download(syncing(index + 1)),
      retrying(index + 1),
      gone(download(syncing(index + 1))),
    ]).flat();

  test('retryLimit + 1 DataVolumes may be made', () => {
    expect(only(s6Attempts, tries(3))).toEqual([]);
    expect(only(s6Attempts, [aPolicy({ retryLimit: '4' }), ...tries(5)])).toEqual([]);
  });

  test('one more is reported', () => {
    expectBroken(s6Attempts, aHistory(tries(4)), '114', 'is number 4 of its revision, 3 allowed');
  });

  test('a DataVolume that a backup restored is no attempt', () => {
    const restored = download(syncing(4));
    expect(only(s6Attempts, [...tries(3), by('user', restored)])).toEqual([]);
    expectBroken(s6Attempts, aHistory([...tries(3), by('start-sync', restored)]), '113', 'is number 4');
  });

  test('a DataVolume that is created again after the status named it counts again', () => {
    const seen = image({ ...syncing(3).status, dataVolume: download(syncing(3)).metadata.name });
    const again = [
      ...tries(2),
      syncing(3),
      download(syncing(3)),
      seen,
      gone(download(syncing(3))),
      download(syncing(3)),
    ];
    expectBroken(s6Attempts, aHistory(again), '113', 'is number 4');
  });

  test('a DataVolume may be created again by a reconcile that began before the status named it', () => {
    const seen = image({ ...syncing(3).status, dataVolume: download(syncing(3)).metadata.name });
    const made = download(syncing(3));
    const createdBy = (since: number) => [
      ...tries(2),
      syncing(3),
      made,
      gone(made),
      seen,
      { object: made, by: 'start-sync', since },
    ];
    expect(only(s6Attempts, createdBy(111))).toEqual([]);
    expectBroken(s6Attempts, aHistory(createdBy(113)), '113', 'is number 4');
  });

  test('a DataVolume that was deleted before the status named it may be created again', () => {
    const again = [...tries(2), syncing(3), download(syncing(3)), gone(download(syncing(3))), download(syncing(3))];
    expect(only(s6Attempts, again)).toEqual([]);
  });

  test('the count restarts after an attempt that never started, a wiped status and a new revision', () => {
    const unstarted = [syncing(1), download(syncing(1)), retrying(1, { attempts: 0 }), gone(download(syncing(1)))];
    const later = (attempt: number) => [syncing(attempt), download(syncing(attempt)), retrying(attempt)];
    expect(only(s6Attempts, [...unstarted, ...later(2), ...later(3), ...later(4)])).toEqual([]);
    expect(only(s6Attempts, [...tries(3), aVMDiskImage(), ...tries(3)])).toEqual([]);
    const next = image({ ...syncing(1).status, revision: 2 });
    expect(only(s6Attempts, [...tries(3), next, download(next)])).toEqual([]);
  });

  /** An importer that restarts at these seconds. */
  const restarting = (...seconds: number[]) => [
    download(syncing(1)),
    ...seconds.map((second, index) => ({
      object: download(syncing(1), { restartCount: index + 1 }),
      atMs: Date.parse(at(second)),
    })),
  ];

  test('an importer that restarts for longer than a sweep is reported, once the faults end', () => {
    expect(only(s6Attempts, [syncing(1), ...restarting(1, 30)], still(600))).toEqual([]);
    expectBroken(s6Attempts, aHistory([syncing(1), ...restarting(1, 90)], still(600)), '104', 'restarted 89000 ms');
  });

  test('if the image is being deleted, the importer has until the audit', () => {
    const left = leaving(syncing(1));
    expect(only(s6Attempts, [left, ...restarting(1, 60)], still(600))).toEqual([]);
    expectBroken(s6Attempts, aHistory([left, ...restarting(1, 120)], still(600)), '104', 'restarted 119000 ms');
  });
});

describe('S7', () => {
  const policy = aPolicy({ retryBackoffDuration: '5m' });

  test('the back-off is planned, waited for and doubled', () => {
    const second = { ...retrying(2, { after: 600 }) };
    expect(only(s7Backoff, [policy, syncing(1), retrying(1), queued(1, { queuedAt: at(310) })])).toEqual([]);
    expect(only(s7Backoff, [policy, syncing(2), second])).toEqual([]);
  });

  test('a shorter back-off is reported', () => {
    const planned = aHistory([policy, syncing(2), retrying(2)]);
    expectBroken(s7Backoff, planned, '103', 'planned 300000 ms after the failure, expected 600000 ms');
  });

  test('if a user removed nextAttemptAt, the present policy determines the wait', () => {
    const { nextAttemptAt: _, ...taken } = retrying(1).status ?? {};
    const written = (now: string) => [
      policy,
      syncing(1),
      retrying(1),
      image(taken),
      aPolicy({ retryBackoffDuration: now }),
      queued(1, { queuedAt: at(60) }),
      { object: download(syncing(2)), atMs: Date.parse(at(60)) },
    ];
    expect(only(s7Backoff, written('30s'))).toEqual([]);
    expectBroken(s7Backoff, aHistory(written('2m')), '107', 'expected at least 120000 ms');
  });

  test('an image that is queued too soon is reported', () => {
    const history = aHistory([policy, syncing(1), retrying(1), queued(1, { queuedAt: at(309) })]);
    expectBroken(s7Backoff, history, '104', 'queued again at');
  });

  test('a DataVolume that the recorder sees too soon is reported, beyond the clock skew', () => {
    const written = (second: number) => [
      policy,
      syncing(1),
      retrying(1),
      queued(1, { queuedAt: at(311) }),
      { object: download(syncing(2)), atMs: Date.parse(at(second)) },
    ];
    expectBroken(
      s7Backoff,
      aHistory(written(200)),
      '105',
      'came 198000 ms after a failure, expected at least 300000 ms',
    );
    expect(only(s7Backoff, written(298))).toEqual([]);
  });

  test('a new revision does not wait', () => {
    const next = image({ phase: 'Queued', revision: 2, queuedAt: at(20) });
    expect(only(s7Backoff, [policy, syncing(1), retrying(1), next, download(next)])).toEqual([]);
  });
});

describe('S8', () => {
  const made = snapshot(syncing(), { ready: true });
  const succeeded = image({
    phase: 'Succeeded',
    attempt: 1,
    snapshot: { name: made.metadata.name, revision: 1 },
    ...condition('True'),
  });
  const snapshotting = image({ phase: 'Snapshotting', attempt: 1 });
  const done = download(syncing(), { phase: 'Succeeded' });

  test('a Succeeded DataVolume and a ready snapshot of the revision are evidence, even after their deletion', () => {
    expect(only(s8Evidence, [snapshotting, done, gone(done), snapshot(syncing()), made, succeeded])).toEqual([]);
    expect(only(s8Evidence, [succeeded], { before: [snapshotting, done, made] })).toEqual([]);
  });

  test('a snapshot that is not ready is no evidence', () => {
    const history = aHistory([snapshotting, done, snapshot(syncing()), succeeded]);
    expectBroken(s8Evidence, history, '104', 'which was never readyToUse');
  });

  test('a DataVolume that was never Succeeded is no evidence, unless changes were missed', () => {
    const written = [snapshotting, download(syncing()), made, succeeded];
    expectBroken(s8Evidence, aHistory(written), '104', 'ubuntu is Succeeded without a DataVolume of revision 1');
    expect(only(s8Evidence, written, { gaps: [{ after: 1, until: 2 }] })).toEqual([]);
  });

  test('a snapshot of another revision is no evidence', () => {
    const other = image({ ...succeeded.status, revision: 2 });
    const history = aHistory([image({ ...snapshotting.status, revision: 2 }), done, made, other]);
    expectBroken(s8Evidence, history, '104', 'which is not of its revision 2');
  });

  test('an adopted snapshot needs no DataVolume but must be ready', () => {
    const golden = { ...made, metadata: { ...made.metadata, name: 'golden', labels: {} } };
    const adopted = image({
      ...succeeded.status,
      snapshot: { name: 'golden', revision: 1 },
      adoption: { snapshot: 'golden', revision: 1 },
    });
    expect(only(s8Evidence, [golden, snapshotting, adopted])).toEqual([]);
    expectBroken(
      s8Evidence,
      aHistory([snapshotting, adopted]),
      '102',
      'with snapshot golden, which was never readyToUse',
    );
  });
});

describe('S8, a DataVolume that follow-sync deletes', () => {
  const wiped = [
    image({ phase: 'Snapshotting', attempt: 1 }),
    by('user', aVMDiskImage()),
    syncing(),
    download(syncing()),
  ];
  const deleted = (since: number) => [...wiped, by('follow-sync', download(syncing()), { isGone: true, since })];

  test('is reported if its attempt is active', () => {
    expectBroken(s8Evidence, aHistory(deleted(104)), '105', 'was deleted before its outcome was recorded');
  });

  test('is allowed if a user wiped the status after the reconcile read it', () => {
    expect(only(s8Evidence, deleted(101))).toEqual([]);
  });
});

describe('S9', () => {
  test('a declared transition by its owner is allowed', () => {
    expect(only(s9Phases, [aVMDiskImage(), by('start-sync', queued()), by('start-sync', syncing())])).toEqual([]);
  });

  test('an undeclared transition, or one by another function, is reported', () => {
    expectBroken(
      s9Phases,
      aHistory([queued(), image({ phase: 'Retrying' })]),
      '102',
      'no transition leads from "Queued" to Retrying',
    );
    const history = aHistory([queued(), by('follow-sync', syncing())]);
    expectBroken(
      s9Phases,
      history,
      '102',
      'the transition from "Queued" to Syncing belongs to start-sync, not follow-sync',
    );
  });

  test('transitions that a user writes are not judged, and a wiped status starts again', () => {
    expect(only(s9Phases, [queued(), by('user', image({ phase: 'Retrying' }))])).toEqual([]);
    expect(only(s9Phases, [queued(2), aVMDiskImage(), queued(0)])).toEqual([]);
  });

  test('observedGeneration (unless above the generation), revision, attempt and attempts never fall', () => {
    const falls = (before: VMDiskImageStatus, after: VMDiskImageStatus, generation = 2) =>
      aHistory(
        [before, after].map((status) =>
          aVMDiskImage({ generation, status: { phase: 'Queued', revision: 1, ...status } }),
        ),
      );
    expectBroken(
      s9Phases,
      falls({ observedGeneration: 2 }, { observedGeneration: 1 }),
      '102',
      'observedGeneration fell',
    );
    expect(check(falls({ observedGeneration: 2 }, { observedGeneration: 1 }, 1), [s9Phases])).toEqual([]);
    expectBroken(s9Phases, falls({ revision: 2 }, { revision: 1 }), '102', 'revision fell from 2 to 1');
    expectBroken(s9Phases, falls({ attempt: 2 }, { attempt: 1 }), '102', 'attempt fell');
    expectBroken(s9Phases, falls({ attempts: 2 }, { attempts: 1 }), '102', 'attempts fell from 2 to 1');
    expect(
      only(
        s9Phases,
        falls({ attempts: 2, revision: 1 }, { attempts: 0, revision: 2 }).changes.map(({ object }) => object),
      ),
    ).toEqual([]);
  });

  test('attempts fall by one when an attempt ends that never started', () => {
    expect(only(s9Phases, [retrying(2, { attempts: 1 })], { before: [syncing(2)] })).toEqual([]);
    expectBroken(
      s9Phases,
      aHistory([retrying(2, { attempts: 0 })], { before: [syncing(2)] }),
      '101',
      'attempts fell from 2 to 0',
    );
  });

  test('lastTransitionTime goes back by no more than the skew of the clocks', () => {
    const before = [image({ phase: 'Syncing', ...condition('False', 20) })];
    expect(only(s9Phases, [image({ phase: 'Syncing', ...condition('False', 16) })], { before })).toEqual([]);
    const history = aHistory([image({ phase: 'Syncing', ...condition('False', 10) })], { before });
    expectBroken(s9Phases, history, '101', 'lastTransitionTime of Ready went back');
  });

  test("a machine's lastTransitionTime goes back only over a time that the reconcile did not see", () => {
    const machine = (status: 'True' | 'False', second: number) =>
      aVirtualMachine({ status: { phase: 'Provisioning', ...condition(status, second) } });
    const written = (since: number) => [
      by('ensure-vmdi', machine('True', 0), { since: 100 }),
      by('ensure-vmdi', machine('False', 60), { since: 101 }),
      by('ensure-vmdi', machine('False', 40), { since }),
    ];
    expect(only(s9Phases, written(101))).toEqual([]);
    expectBroken(s9Phases, aHistory(written(102)), '103', 'lastTransitionTime of Ready went back');
  });

  test('phase and conditions never contradict', () => {
    const used = { snapshot: { name: 'some', revision: 1 } };
    const lost = [{ ...condition('True').conditions[0], type: 'SnapshotLost' }, ...condition('True').conditions];
    const broken = (status: VMDiskImageStatus, message: string) =>
      expectBroken(s9Phases, aHistory([image(status)], { before: [image({ phase: 'Snapshotting' })] }), '101', message);
    broken({ phase: 'Succeeded', ...used, ...condition('False') }, 'Succeeded and not Ready');
    broken({ phase: 'Succeeded', ...condition('True') }, 'Ready without a snapshot');
    broken({ phase: 'Succeeded', ...used, conditions: lost as never }, 'Ready and SnapshotLost at once');
    expect(only(s9Phases, [image({ phase: 'Queued', ...used, ...condition('True') })])).toEqual([]);
  });
});

const still = (second: number) => ({ stillFromMs: Date.parse(at(0)), endMs: Date.parse(at(second)), auditMs: 60_000 });

describe('L1', () => {
  const failed = image({ phase: 'Failed' });

  test('finished images and no writes are rest', () => {
    expect(only(l1Rest, [queued(), failed], still(600))).toEqual([]);
  });

  test('an unfinished image is reported', () => {
    expectBroken(l1Rest, aHistory([queued()], still(600)), '101', 'ubuntu ends Queued');
  });

  test('a function that keeps writing is reported once per object', () => {
    const again = (second: number) => by('follow-sync', failed, { atMs: Date.parse(at(second)) });
    expectBroken(
      l1Rest,
      aHistory([queued(), failed, again(300), again(330)], still(600)),
      '103',
      'follow-sync still writes',
    );
    expect(only(l1Rest, [queued(), failed, again(100)], still(600))).toEqual([]);
  });

  test('images that are paused, adopting or kept from starting are at rest; nothing is judged before the faults end', () => {
    expect(only(l1Rest, [queued()], { endMs: 0 })).toEqual([]);
    expect(only(l1Rest, [aPolicy({ concurrency: '0' }), queued()], still(600))).toEqual([]);
    const adopting = image({ phase: 'Snapshotting', adoption: { snapshot: 'golden', revision: 1 } });
    expect(only(l1Rest, [granted(), adopting], still(600))).toEqual([]);
    expect(only(l1Rest, [granted(), retrying(2, { attempts: 0 })], still(600))).toEqual([]);
  });
});

describe('L3', () => {
  const policy = aPolicy({ retryLimit: '0', syncTimeout: '60s', startTimeout: '10s', snapshotTimeout: '10s' });

  test('a sync that ends within its limits is in time, however long it was queued', () => {
    const written = [policy, queued(), { object: syncing(), atMs: Date.parse(at(1000)) }];
    expect(
      only(l3Bound, [...written, { object: image({ phase: 'Failed' }), atMs: Date.parse(at(1060)) }], still(5000)),
    ).toEqual([]);
  });

  test('a sync that takes longer than all its attempts may is reported', () => {
    const history = aHistory([policy, queued(), syncing()], still(600));
    expectBroken(l3Bound, history, '103', 'ubuntu has been in progress for 598000 ms, expected at most');
  });

  const retrying = image({ phase: 'Retrying', nextAttemptAt: at(1200) });
  const inTime = { object: image({ phase: 'Failed' }), atMs: Date.parse(at(1260)) };
  const edited = { object: policy, atMs: Date.parse(at(5)) };

  test('a wait that an earlier policy set does not count', () => {
    const began = [policy, queued(), syncing(), { object: retrying, atMs: Date.parse(at(3)) }, edited];
    expect(only(l3Bound, [...began, inTime], still(5000))).toEqual([]);
    const endless = { object: syncing(2), atMs: Date.parse(at(1201)) };
    expect(only(l3Bound, [...began, endless], still(5000))).not.toEqual([]);
  });

  test('the same wait set by the present policy counts', () => {
    const began = [policy, queued(), syncing(), { object: retrying, atMs: Date.parse(at(60)) }];
    expect(only(l3Bound, [...began, inTime], still(5000))).not.toEqual([]);
  });
});
