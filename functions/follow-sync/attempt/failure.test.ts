import { describe, expect, test } from 'vitest';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { aDataVolume, anImporter, at, aVMDiskImage, start } from '../../../test/support/builders/images.ts';
import { failureOf } from './failure.ts';

const name = 'ubuntu';
const syncing = (more = {}) =>
  aVMDiskImage({
    name,
    status: { phase: 'Syncing', revision: 1, attempt: 1, attempts: 1, startedAt: at(0), ...more },
  });
const seen = syncing({ importer: { uid: 'pod-1', scratch: false }, dataVolume: 'seen' });
const error = (message: string, reason = 'Error') => ({ running: { status: 'False', reason, message } });

const judge = (
  image = seen,
  dataVolume: ReturnType<typeof aDataVolume> | undefined = aDataVolume(image),
  pods: ReturnType<typeof anImporter>[] = [],
  seconds = 60,
) => failureOf({ nowMs: start + seconds * 1000, image, policy: parsePolicy(undefined), dataVolume, pods });

describe('what CDI says of a failing import', () => {
  const rows: [string, Parameters<typeof aDataVolume>[1], string | undefined, boolean?][] = [
    [
      'S3 404',
      error(
        'Unable to connect to s3 data source: could not get s3 object: "b/k": NoSuchKey: x status code: 404, request id: 1',
      ),
      'NotFound',
      true,
    ],
    [
      'S3 403',
      error('could not get s3 object: AccessDenied: Access Denied status code: 403, request id: 404'),
      'AccessDenied',
      true,
    ],
    [
      'HTTP 404',
      error('Unable to connect to http data source: expected status code 200, got 404. Status: 404 Not Found'),
      'NotFound',
      true,
    ],
    ['HTTP 401', error('expected status code 200, got 401. Status: 401 Unauthorized'), 'AccessDenied', true],
    [
      'HTTP 403',
      error('Unable to connect to http data source: expected status code 200, got 403. Status: 403 Forbidden'),
      'AccessDenied',
      true,
    ],
    [
      'S3 403 in the message of another store',
      error('could not get s3 object: "b/k": Forbidden: Forbidden\n\tstatus code: 403, request id: 1, host id: '),
      'AccessDenied',
      true,
    ],
    [
      'an S3 500 with 404 in its request id',
      error('InternalError: status code: 500, request id: 404A404'),
      'ImportFailed',
      false,
    ],
    ['cut off', error('Unable to process data: unexpected EOF'), 'ImportFailed', false],
    ['too small', error('DataVolume too small to contain image'), 'DiskTooSmall', true],
    [
      'too small, in the message of the importer',
      error(
        'Unable to process data: Unable to convert source data to target format: virtual image size 4294967296 is larger than the reported available storage 1073741824. A larger PVC is required',
      ),
      'DiskTooSmall',
      true,
    ],
    [
      'an object shorter than any header',
      error(
        'Unable to process data: Unable to obtain information about data source: could not process image header: unexpected EOF',
      ),
      'ImportFailed',
      true,
    ],
    [
      'a log that ends with the cause',
      error(
        'I1124 07:53:25.535752       1 importer.go:108] Starting importer\nE1124 07:53:25.554162       1 prlimit.go:156] NoSuchKey in a log decides nothing\n',
      ),
      'ImporterReplaced',
      false,
    ],
    ['corrupt', error('Unable to process data: qcow2: L1 table out of file'), 'ImportFailed', false],
    ['out of memory', error('', 'OOMKilled'), 'ImportFailed', false],
    [
      'a registry image that cannot be pulled',
      error('failed to pull image: x', 'ImagePullFailed'),
      'ImagePullFailed',
      false,
    ],
    [
      'checksum',
      { phase: 'Failed', running: { status: 'False', reason: 'ChecksumError', message: 'mismatch' } },
      'ChecksumMismatch',
      true,
    ],
    [
      'claim lost',
      { phase: 'Failed', bound: { status: 'False', reason: 'ClaimLost', message: 'Claim Lost' } },
      'DataVolumeFailed',
      false,
    ],
    [
      'the wish for scratch space',
      { running: { status: 'False', reason: 'Error', message: 'scratch space required and none found' } },
      undefined,
    ],
    [
      'a secret that is missing',
      { phase: 'ImportScheduled', running: { status: 'False', reason: 'CreateContainerConfigError' } },
      undefined,
    ],
    [
      'a Pod that no node has room for yet',
      { phase: 'ImportScheduled', running: { status: 'False', reason: 'Unschedulable' } },
      undefined,
    ],
    ['a phase that goes back', { phase: 'ImportScheduled' }, undefined],
    [
      'completed',
      { phase: 'Succeeded', running: { status: 'False', reason: 'Completed', message: 'Import Complete' } },
      undefined,
    ],
  ];
  test.each(rows)('%s', (_, options, reason, isFinal) => {
    const failure = judge(seen, aDataVolume(seen, options));
    expect(failure?.reason).toBe(reason);
    if (isFinal !== undefined) expect(failure?.isFinal).toBe(isFinal);
  });
});

describe('what the importer Pods tell', () => {
  const scratchSeen = syncing({ importer: { uid: 'pod-2', scratch: true }, dataVolume: 'seen' });
  test('an evicted importer ends the attempt', () => {
    expect(judge(seen, undefined, [anImporter(seen, { phase: 'Failed', reason: 'Evicted' })])?.reason).toBe(
      'ImporterEvicted',
    );
  });
  test('a container that started again ends the attempt with its last words', () => {
    const pods = [anImporter(seen, { restarts: 1, lastMessage: 'Unable to process data: unexpected EOF' })];
    expect(judge(seen, undefined, pods)).toMatchObject({
      reason: 'ImportFailed',
      message: 'Unable to process data: unexpected EOF',
    });
  });
  test('a restart that only restartCount shows ends the attempt', () => {
    expect(judge(seen, aDataVolume(seen, { restartCount: 1 }), [anImporter(seen)])?.reason).toBe('ImporterRestarted');
  });
  test('a restartCount left by the round for scratch space does not, also when the importers are gone', () => {
    const done = { restartCount: 1, phase: 'Succeeded', running: { status: 'False', reason: 'Completed' } };
    expect(judge(seen, aDataVolume(seen, done))).toBeUndefined();
    expect(judge(seen, aDataVolume(seen, { restartCount: 1 }))).toBeUndefined();
  });
  const log =
    'I1124 07:53:25.535752       1 importer.go:108] Starting importer\nI1124 07:53:25.577878       1 file.go:230] NoSuchKey\n';
  test.each([
    ['I1124 07:53:25.577878       1 file.go:230] NoSuchKey', 137, 'The importer was killed (exit code 137).'],
    [
      'E1124 07:53:25.577878       1 main.go:30] blockdev: cannot open /dev/cdi-block-volume: Permission denied',
      1,
      'The importer died (exit code 1): blockdev: cannot open /dev/cdi-block-volume: Permission denied.',
    ],
    [
      'blockdev: cannot open /dev/cdi-block-volume: Permission denied',
      1,
      'The importer died (exit code 1): blockdev: cannot open /dev/cdi-block-volume: Permission denied.',
    ],
  ])('the message of an importer whose log ends with "%s" names that cause, on one line', (last, exitCode, message) => {
    const died = anImporter(seen, { exitCode, lastMessage: `${log}${last}\n` });
    expect(judge(seen, aDataVolume(seen, error(`${log}${last}\n`)), [died])).toEqual({
      reason: 'ImportFailed',
      message,
      isFinal: false,
    });
  });
  test('another importer in place of the observed one ends the attempt', () => {
    expect(judge(seen, undefined, [anImporter(seen, { uid: 'pod-9' })])?.reason).toBe('ImporterReplaced');
    expect(judge(scratchSeen, undefined, [anImporter(seen, { uid: 'pod-9', scratch: true })])?.reason).toBe(
      'ImporterReplaced',
    );
  });
  test('an importer with scratch space, after another asked for it, is no failure', () => {
    expect(judge(seen, undefined, [anImporter(seen, { uid: 'pod-2', scratch: true })])).toBeUndefined();
  });
  test('the round for scratch space of CDI before 1.59 is no failure', () => {
    expect(
      judge(seen, aDataVolume(seen, { restartCount: 1 }), [anImporter(seen, { uid: 'pod-2', scratch: true })]),
    ).toBeUndefined();
  });
  test('nor is it while neither importer exists', () => {
    const asking = {
      restartCount: 1,
      running: { status: 'False', reason: 'Error', message: 'scratch space required and none found' },
    };
    expect(judge(seen, aDataVolume(seen, asking))).toBeUndefined();
  });
  test('an importer that asked for scratch space may be deleted', () => {
    const asked = anImporter(seen, {
      leaving: true,
      restarts: 1,
      lastMessage: 'scratch space required and none found',
    });
    expect(judge(seen, undefined, [asked])).toBeUndefined();
  });
  test('an importer that is being deleted ends the attempt', () => {
    expect(judge(seen, undefined, [anImporter(seen, { leaving: true })])?.reason).toBe('ImporterReplaced');
  });
  test('an importer that has succeeded may be cleared away', () => {
    expect(judge(seen, undefined, [anImporter(seen, { leaving: true, phase: 'Succeeded' })])).toBeUndefined();
  });
});

describe('deadlines', () => {
  const waiting = syncing();
  const pending = () =>
    aDataVolume(waiting, {
      phase: 'ImportScheduled',
      running: { status: 'False', reason: 'Unschedulable', message: 'no node' },
    });
  test('an attempt that has not started by startTimeout does not count', () => {
    expect(judge(waiting, pending(), [], 899)).toBeUndefined();
    expect(judge(waiting, pending(), [], 900)).toMatchObject({ reason: 'NotStarted', isUncounted: true });
  });
  test('a request for scratch space starts startTimeout again, and its failure does not count', () => {
    const running = { status: 'False', message: 'scratch space required and none found', lastTransitionTime: at(600) };
    const asking = aDataVolume(seen, { running, bound: { status: 'False', message: 'exceeded quota: q' } });
    expect(judge(seen, asking, [], 1_499)).toBeUndefined();
    expect(judge(seen, asking, [], 1_500)).toMatchObject({
      reason: 'NotStarted',
      isUncounted: true,
      message: 'No scratch space within startTimeout (15m); CDI says: exceeded quota: q.',
    });
  });
  test('an importer that has started has until syncTimeout', () => {
    expect(judge(seen, undefined, [], 14_399)).toBeUndefined();
    expect(judge(seen, undefined, [], 14_400)).toMatchObject({ reason: 'SyncTimeout', isFinal: false });
  });
  test('a timeout that does not parse ends nothing: the default that stands in for it may be shorter than what was meant', () => {
    const over = { nowMs: start + 5 * 3_600_000, pods: [] };
    const judged = (image: VMDiskImage, dataVolume: ReturnType<typeof aDataVolume>, data: Record<string, string>) =>
      failureOf({ ...over, image, dataVolume, policy: parsePolicy({ data }) })?.reason;
    expect(judged(seen, aDataVolume(seen), {})).toBe('SyncTimeout');
    expect(judged(seen, aDataVolume(seen), { syncTimeout: '10 h' })).toBeUndefined();
    expect(judged(waiting, pending(), { syncTimeout: '10h' })).toBe('NotStarted');
    expect(judged(waiting, pending(), { syncTimeout: '10h', startTimeout: '10 h' })).toBeUndefined();
  });
  test('one whose status does not say when it started has the time since its DataVolume was created', () => {
    const undated = syncing({ startedAt: undefined, importer: { uid: 'pod-1', scratch: false } });
    const made = aDataVolume(undated);
    const dated = { ...made, metadata: { ...made.metadata, creationTimestamp: at(0) } };
    expect(judge(undated, dated, [], 14_399)).toBeUndefined();
    expect(judge(undated, dated, [], 14_400)).toMatchObject({ reason: 'SyncTimeout' });
  });
  test('one without either has the time since the last change of phase, and ends then', () => {
    const history = [{ time: at(10), fact: 'Syncing', message: '' }];
    const withoutVolume = (seconds: number, image: VMDiskImage) =>
      failureOf({
        nowMs: start + seconds * 1000,
        image,
        policy: parsePolicy(undefined),
        dataVolume: undefined,
        pods: [],
      });
    expect(withoutVolume(909, syncing({ startedAt: undefined, history }))).toBeUndefined();
    expect(withoutVolume(910, syncing({ startedAt: undefined, history }))).toMatchObject({
      reason: 'NotStarted',
      isUncounted: true,
    });
    expect(withoutVolume(900, syncing({ startedAt: undefined }))).toMatchObject({ reason: 'NotStarted' });
  });
});

test('an observed DataVolume that no longer exists was deleted', () => {
  expect(
    failureOf({ nowMs: start, image: seen, policy: parsePolicy(undefined), dataVolume: undefined, pods: [] })?.reason,
  ).toBe('DataVolumeGone');
});
test('a DataVolume that was not observed yet is still to be created', () => {
  expect(
    failureOf({ nowMs: start, image: syncing(), policy: parsePolicy(undefined), dataVolume: undefined, pods: [] }),
  ).toBeUndefined();
});
