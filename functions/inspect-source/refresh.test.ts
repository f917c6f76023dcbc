import { describe, expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import type { Inspection } from './observed.ts';
import { isOtherObject, refresh } from './refresh.ts';
import { isRefreshDue } from './refresh-due.ts';

const inspected = {
  type: 'SourceInspected',
  ...{ status: 'True' as const, reason: 'Inspected', message: '', lastTransitionTime: at(0) },
};
const source = { etag: 'one', inspectedAt: at(0), queuedAt: at(0) };
type Status = NonNullable<ReturnType<typeof aVMDiskImage>['status']>;

function anImage(status: Partial<Status> = {}, cron = 'OnChange') {
  const image = aVMDiskImage({
    status: { phase: 'Succeeded', revision: 3, queuedAt: at(0), source, conditions: [inspected], ...status } as never,
  });
  return { ...image, spec: { ...image.spec, refresh: cron } };
}

const found = (etag?: string, lastModified?: string): Inspection => ({
  bytes: 1,
  etag,
  lastModified,
  content: { format: undefined },
  isCut: false,
});
const nowMs = start + 600_000;
const told = (
  image: ReturnType<typeof anImage>,
  inspection: Parameters<typeof refresh>[0]['inspection'],
  again?: Inspection,
) => {
  const [action, ...others] = refresh({ refreshed: image, inspection, nowMs, ...(again ? { again } : {}) });
  expect(others).toEqual([]);
  return action as undefined | { status: { source?: object; conditions?: { type: string }[] } };
};
const staleIn = (action: ReturnType<typeof told>) => action?.status.conditions?.find(({ type }) => type === 'Stale');

describe('an object that', () => {
  test('is as it was inspected is not told', () => {
    expect(told(anImage(), found('one'))).toBeUndefined();
  });
  test('has changed, at two looks, is to be the next revision', () => {
    expect(isOtherObject(anImage(), found('two'))).toBe(true);
    const action = told(anImage(), found('two'), found('two'));
    expect(action?.status.source).toEqual({ changed: { revision: 3 } });
    expect(staleIn(action)).toMatchObject({ status: 'True', reason: 'SourceChanged' });
  });
  test('is another one at each look starts nothing', () => {
    const action = told(anImage(), found('two'), found('three'));
    expect(action?.status.source).toEqual({});
    expect(staleIn(action)).toMatchObject({ status: 'Unknown', reason: 'SourceUnstable' });
  });
  test('has another ETag, and the length and date of before, is the same', () => {
    const dated = { ...source, bytes: 1, lastModified: '2026-01-01T00:00:00Z' };
    const inspection = found('two', 'Thu, 01 Jan 2026 00:00:00 GMT');
    expect(isOtherObject(anImage({ source: dated }), inspection)).toBe(false);
    expect(told(anImage({ source: dated }), inspection)).toBeUndefined();
    expect(isOtherObject(anImage({ source: { ...dated, bytes: 2 } }), inspection)).toBe(true);
  });
  test('is gone leaves the revision as it is', () => {
    const action = told(anImage(), { status: 404, code: 'NoSuchKey' });
    expect(staleIn(action)).toMatchObject({ status: 'Unknown', reason: 'SourceUnreadable' });
    expect(JSON.stringify(action)).toContain('the server answers 404 NoSuchKey. Revision 3 stays.');
  });
  test('has no ETag is known by when it was changed', () => {
    const dated = { inspectedAt: at(0), queuedAt: at(0), lastModified: '2026-01-01T00:00:00Z' };
    expect(told(anImage({ source: dated }), found(undefined, 'Thu, 01 Jan 2026 00:00:00 GMT'))).toBeUndefined();
    expect(isOtherObject(anImage({ source: dated }), found(undefined, 'Fri, 02 Jan 2026 00:00:00 GMT'))).toBe(true);
    expect(staleIn(told(anImage(), found()))).toMatchObject({ reason: 'SourceUnreadable' });
  });
  test('was downloaded uninspected is known from now on, and not downloaded again', () => {
    const image = anImage({ source: { inspectedAt: at(0), queuedAt: at(0) } });
    expect(isOtherObject(image, found('two'))).toBe(false);
    expect(told(image, found('two'))?.status).toEqual({ source: { etag: 'two', bytes: 1 } });
    const old = anImage({ source: undefined, conditions: [] });
    expect(told(old, found('two'))?.status.source).toEqual({
      ...{ etag: 'two', bytes: 1 },
      ...{ inspectedAt: '2026-01-01T00:10:00Z', queuedAt: at(0) },
    });
  });
  test('was missing and now exists is downloaded', () => {
    const missing = anImage({ phase: 'Failed', source: { inspectedAt: at(0), queuedAt: at(0) } });
    expect(isOtherObject(missing, found('two'))).toBe(true);
  });
});

test('a condition is written once, and taken back', () => {
  const stale = { ...inspected, type: 'Stale', status: 'True' as const, reason: 'SourceChanged', message: 'x' };
  const action = told(anImage({ conditions: [inspected, stale] }), found('one'));
  expect(staleIn(action)).toMatchObject({ status: 'False', reason: 'UpToDate' });
  const now = staleIn(action) as typeof stale;
  expect(told(anImage({ conditions: [inspected, now] }), found('one'))).toBeUndefined();
});

test('a cron expression says when to look, and each look is noted', () => {
  const at20 = Date.parse('2026-01-01T00:20:00Z');
  const looked = anImage({ source: { ...source, lookedAt: '2026-01-01T00:10:00Z' } }, '30 0 * * *');
  expect(isRefreshDue(looked, at20)).toBe(false);
  expect(isRefreshDue(looked, at20 + 600_000)).toBe(true);
  expect(told(looked, found('one'))?.status).toEqual({ source: { lookedAt: '2026-01-01T00:10:00Z' } });
});

test('an invalid cron expression is reported', () => {
  expect(() => isRefreshDue(anImage({}, '99 0 * * *'), nowMs)).toThrow();
  const action = told(anImage({}, '99 0 * * *'), { invalid: 'out of range' });
  expect(staleIn(action)).toMatchObject({ reason: 'RefreshInvalid' });
});

test.each<[string, Partial<Status>]>([
  ['is under way', { phase: 'Syncing' }],
  ['was never queued', { queuedAt: undefined }],
  ['waits for its next revision', { source: { ...source, changed: { revision: 3 } } }],
])('an image that %s is not looked at', (_, status) => {
  expect(isRefreshDue(anImage(), nowMs)).toBe(true);
  expect(isRefreshDue(anImage(status), nowMs)).toBe(false);
});
