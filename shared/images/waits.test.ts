import { describe, expect, test } from 'vitest';
import { aHolder, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import type { VMDiskImageStatus } from '../kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../policy.ts';
import { failureReasons } from './failure-reasons.ts';
import { failedFor, idleSince, waitOf } from './waits.ts';

const policyOf = (data: Record<string, string> = {}) => parsePolicy({ data: { inspectTimeout: '0s', ...data } });
const one = aHolder(aVMDiskImage());
const importer = { uid: 'pod-1', scratch: false };
const moved = (seconds: number) => [{ time: at(seconds), fact: 'Any', message: '' }];
const queued: VMDiskImageStatus = { phase: 'Queued', queuedAt: at(7), history: moved(3) };

describe('an image on its way waits for', () => {
  test.each<[string, VMDiskImageStatus | undefined, Record<string, string>, string, number]>([
    ['the first look', undefined, {}, 'Unseen', 0],
    ['a policy that parses', queued, { retryLimit: 'many' }, 'InvalidPolicy', 7],
    ['a slot, whatever a key says that no slot depends on', queued, { prune: 'Maybe' }, 'SlotFree', 7],
    ['the end of a pause', queued, { concurrency: '0' }, 'QueuePaused', 7],
    ['the inspection of its source', queued, { inspectTimeout: '30s' }, 'Inspection', 7],
    ['a slot that another holds', queued, { concurrency: '1' }, 'SlotsTaken', 7],
    ['a slot of its namespace', queued, { slotsPerNamespace: '1' }, 'NamespaceFull', 7],
    ['a slot, as its namespace may hold another', queued, { slotsPerNamespace: '2' }, 'SlotFree', 7],
    ['the next attempt', { phase: 'Retrying', history: moved(3) }, {}, 'Backoff', 3],
    ['its importer', { phase: 'Syncing', startedAt: at(5) }, {}, 'Importer', 5],
    ['its download', { phase: 'Syncing', startedAt: at(5), importer }, {}, 'Download', 5],
    ['its snapshot', { phase: 'Snapshotting', history: moved(9) }, {}, 'Snapshot', 9],
    [
      'a snapshot to adopt',
      { phase: 'Snapshotting', revision: 1, adoption: { snapshot: 'golden', revision: 1 }, history: moved(9) },
      {},
      'Adoption',
      9,
    ],
  ])('%s', (_, status, data, reason, since) => {
    const image = aVMDiskImage(status ? { status } : {});
    const found = waitOf(image, { policy: policyOf(data), holders: [one], bytesLeft: undefined, nowMs: start });
    expect({ reason: found?.reason, sinceMs: Date.parse(found?.since ?? '') }).toEqual({
      reason,
      sinceMs: Date.parse(at(since)),
    });
  });
  test('a budget, unless an admin lets it go ahead', () => {
    const reasonOf = (annotations: Record<string, string>) =>
      waitOf(aVMDiskImage({ status: queued, annotations }), {
        policy: policyOf({ inspectTimeout: '0s' }),
        holders: [],
        bytesLeft: 0,
        nowMs: start,
      })?.reason;
    expect(reasonOf({})).toBe('BudgetSpent');
    expect(reasonOf({ 'pelotech.ot/ignore-budget': 'true' })).toBe('SlotFree');
  });
  test('another of the same content that downloads', () => {
    const source = { bytes: 1, content: 'same', inspectedAt: at(0), queuedAt: at(7) };
    const image = aVMDiskImage({ status: { ...queued, source } });
    const waitFor = (content: string) =>
      waitOf(image, {
        policy: policyOf(),
        holders: [one],
        nowMs: start,
        bytesLeft: undefined,
        underWay: new Set([content]),
      })?.reason;
    expect(waitFor('vmdi-farm/same')).toBe('SameContent');
    expect(waitFor('vmdi-farm/other')).toBe('SlotFree');
  });
  test('what the Lease cannot say while it cannot be read', () => {
    const image = aVMDiskImage({ status: queued });
    expect(waitOf(image, { policy: policyOf(), holders: undefined, bytesLeft: undefined, nowMs: start })?.reason).toBe(
      'SlotsUnknown',
    );
  });
  test.each(['Succeeded', 'Failed'] as const)('nothing once it has %s', (phase) => {
    expect(
      waitOf(aVMDiskImage({ status: { phase } }), {
        policy: policyOf(),
        holders: [],
        bytesLeft: undefined,
        nowMs: start,
      }),
    ).toBeUndefined();
  });
  test('nothing while it is deleted', () => {
    const image = aVMDiskImage({ deleted: true, status: queued });
    expect(waitOf(image, { policy: policyOf(), holders: [], bytesLeft: undefined, nowMs: start })).toBeUndefined();
  });
});

test.each([...failureReasons, 'Other'])('an image that failed by %s is counted there', (reason) => {
  const ready = { type: 'Ready', status: 'False' as const, reason, message: '', lastTransitionTime: at(0) };
  expect(failedFor(aVMDiskImage({ status: { phase: 'Failed', conditions: [ready] } }))).toBe(reason);
});

describe('a slot', () => {
  const holder = { ...one, since: at(10) };
  const of = (status: VMDiskImageStatus) => idleSince(holder, aVMDiskImage({ status }));
  test('is idle since it was given, until its download moves', () => {
    expect(idleSince(holder, undefined)).toEqual({ since: at(10), reportsProgress: true });
    expect(of({ phase: 'Syncing' })).toEqual({ since: at(10), reportsProgress: true });
    expect(of({ progress: '5%', importer, progressAt: at(60) })).toEqual({ since: at(60), reportsProgress: true });
  });
  test('is not idle by what an attempt before it did', () => {
    expect(of({ phase: 'Syncing', progressAt: at(5) }).since).toBe(at(10));
  });
  test('is idle since the download was done, where it is still held', () => {
    expect(of({ phase: 'Snapshotting', progressAt: at(60), snapshottingAt: at(70) }).since).toBe(at(70));
  });
  test('tells nothing where CDI knows no share', () => {
    expect(of({ progress: 'N/A', importer, progressAt: at(60) }).reportsProgress).toBe(false);
    expect(of({ importer, progressAt: at(60) }).reportsProgress).toBe(false);
  });
});
