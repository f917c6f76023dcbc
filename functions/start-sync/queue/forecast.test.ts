import { expect, test } from 'vitest';
import { forecastAnnotation, forecastIn, type QueueForecast } from '../../../shared/images/queue-forecast.ts';
import { slotsAnnotation } from '../../../shared/images/slots.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { aHolder, aLease, at, start } from '../../../test/support/builders/images.ts';
import { known, only, startSyncOf } from '../../../test/support/harness/image-decisions.ts';

const nowMs = start + 100_000;
const basis = { count: 3, medianMs: 600_000, leastMs: 600_000, mostMs: 600_000 };
const audit = { downloads: {}, isTimed: true, isAboutAll: true };
const syncing = known({
  name: 'first',
  status: { phase: 'Syncing', attempt: 1, attempts: 1, startedAt: at(0), revision: 1, message: 'Downloading.' },
});
const waiting = (number: number) =>
  known({ name: `image-${number}`, status: { phase: 'Queued', queuedAt: at(number), message: 'Waiting.' } });
const line = (length: number) => Array.from({ length }, (_, index) => waiting(index));
const leaseOf = (before?: QueueForecast): Lease => {
  const { metadata, ...lease } = aLease([aHolder(syncing)]);
  const annotations = { ...metadata.annotations, ...(before ? { [forecastAnnotation]: JSON.stringify(before) } : {}) };
  return { ...lease, metadata: { ...metadata, annotations } };
};

const written = (length: number, more: Parameters<typeof startSyncOf>[1] = {}) =>
  only(
    startSyncOf([syncing, ...line(length)], { lease: leaseOf(), nowMs, data: { concurrency: '1' }, ...audit, ...more }),
    'replace',
  ).map(({ object }) => object as unknown as Lease);

test('an audit tells when an image that is requested now may start, and how long it takes, in one write', () => {
  const [lease, ...others] = written(2, { downloads: { ...basis, longMs: 900_000, snapshotMs: 4200, rate: 1234.5 } });
  expect(others).toEqual([]);
  // 500 s until the slot is free, then two images that take 600 s each.
  expect(forecastIn(lease)).toEqual({
    startsAt: '2026-01-01T00:30:00Z',
    count: 3,
    downloadMs: 600_000,
    longMs: 900_000,
    snapshotMs: 5000,
    bytesPerMs: 1230,
  });
  expect(lease?.metadata.annotations?.[slotsAnnotation]).toBe(leaseOf().metadata.annotations?.[slotsAnnotation]);
});

test.each([
  [
    'it is so already',
    {
      downloads: basis,
      lease: leaseOf({
        startsAt: '2026-01-01T00:30:00Z',
        count: 3,
        downloadMs: 600_000,
        longMs: 600_000,
        snapshotMs: 0,
      }),
    },
  ],
  ['no download tells how long one takes', {}],
  ['it is not the end of an audit', { downloads: undefined }],
])('nothing is written if %s', (_, more) => {
  expect(written(2, more)).toEqual([]);
});

test('how long downloads take is remembered when the last image that tells is gone', () => {
  const lease = leaseOf({ count: 5, downloadMs: 300_000, longMs: 400_000, snapshotMs: 5000 });
  expect(forecastIn(written(2, { lease })[0])).toEqual({
    startsAt: '2026-01-01T00:15:00Z',
    count: 5,
    downloadMs: 300_000,
    longMs: 400_000,
    snapshotMs: 5000,
  });
});

test('while nothing starts, no start is forecast', () => {
  expect(forecastIn(written(2, { downloads: basis, data: { concurrency: '0' } })[0])?.startsAt).toBeUndefined();
});

test.each(['', '{}', '[]', '{"count":1,"downloadMs":-1,"longMs":1,"snapshotMs":0}', 'null'])(
  '%j on the Lease says nothing',
  (text) => {
    const { metadata, ...lease } = leaseOf();
    expect(
      forecastIn({ ...lease, metadata: { ...metadata, annotations: { [forecastAnnotation]: text } } }),
    ).toBeUndefined();
  },
);
