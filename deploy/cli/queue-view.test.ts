import { expect, test } from 'vitest';
import { basisOf, startsOf } from '../../shared/images/forecast.ts';
import { slotsAnnotation } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { queueLines, queueOf, type Read } from './queue-view.ts';

const look = { columns: Number.POSITIVE_INFINITY, colour: false };
const nowMs = start + 60_000;
const holder = (name: string, seconds: number) => ({
  uid: `uid-${name}`,
  image: `vmdi-farm/${name}`,
  revision: 1,
  attempt: 1,
  since: at(seconds),
});
const leaseOf = (...holders: object[]) =>
  Lease.parse({ metadata: { name: 'sync-slots', annotations: { [slotsAnnotation]: JSON.stringify(holders) } } });
const done = (name: string, seconds: number) =>
  aVMDiskImage({
    name,
    status: { phase: 'Succeeded', startedAt: at(0), snapshottingAt: at(seconds), completedAt: at(500) },
  });
const queued = (name: string, seconds: number) =>
  aVMDiskImage({ name, status: { phase: 'Queued', queuedAt: at(seconds), message: 'Waiting for a free slot.' } });
const syncing = aVMDiskImage({ name: 'busy', status: { phase: 'Syncing', progress: '50.00%' } });
const retrying = aVMDiskImage({
  name: 'again',
  status: { phase: 'Retrying', nextAttemptAt: at(240), message: 'Cut off.' },
});
const read = (more: Partial<Read> = {}): Read => ({
  images: [queued('b', 20), queued('a', 10), syncing, retrying, done('old', 30)],
  lease: leaseOf(holder('busy', 30)),
  policy: parsePolicy({ data: { concurrency: '1' } }),
  ...more,
});

test('slots, the queue in its order, the images that join it later, and the basis of the forecast', () => {
  expect(queueLines(queueOf(read(), nowMs), nowMs, look)).toEqual([
    '1 of 1 slots held, 2 waiting, 1 to be retried.',
    '',
    'SLOT  IMAGE           SINCE  PHASE    PROGRESS  ATTEMPT',
    '1     vmdi-farm/busy  30s    Syncing  50.00%    1',
    '',
    'PLACE  IMAGE        WAITS  STARTS        WHY',
    '1      vmdi-farm/a  50s    in about 30s  Waiting for a free slot.',
    '2      vmdi-farm/b  40s    in about 60s  Waiting for a free slot.',
    '',
    'AGAIN  IMAGE            WHY',
    'in 3m  vmdi-farm/again  Cut off.',
    '',
    'STARTS is estimated from the one finished download of an existing image (30s); failures and retries are not considered.',
  ]);
});

test.each([
  ['nothing was downloaded yet', read({ images: [queued('a', 10), syncing] }), /unknown.*no existing image/],
  ['the queue is paused', read({ policy: parsePolicy({ data: { concurrency: '0' } }) }), /paused.*ot-functions resume/],
  [
    'a key does not parse',
    read({ policy: parsePolicy({ data: { retryLimit: 'x' } }) }),
    /retryLimit: expected a whole/,
  ],
  [
    'the Lease cannot be read',
    read({ lease: Lease.parse({ metadata: { name: 'l' } }) }),
    /Lease sync-slots does not parse/,
  ],
])('STARTS is unknown and says why if %s', (_, found, says) => {
  const view = queueOf(found, nowMs);
  expect(view.waiting.map(({ startsAt }) => startsAt)).not.toContain(expect.any(String));
  expect(queueLines(view, nowMs, look).join(' ')).toMatch(says);
  expect(queueLines(view, nowMs, look).join(' ')).toContain('unknown');
});

test('the forecast fills free slots at once, then one slot after each download that ends', () => {
  const basis = { count: 1, medianMs: 100, leastMs: 100, mostMs: 100 };
  expect(startsOf(4, [], 2, basis, 0)).toEqual([0, 0, 100, 100]);
  expect(startsOf(2, [], 1, undefined, 0)).toEqual([0, undefined]);
  expect(startsOf(2, [], 0, basis, 0)).toEqual([undefined, undefined]);
});

test('with a lowered limit, no image starts until enough slots are free', () => {
  const basis = { count: 1, medianMs: 60_000, leastMs: 1, mostMs: 1 };
  const held = [0, 30].map((seconds) => ({ holder: holder(`h${seconds}`, seconds), share: undefined }));
  expect(startsOf(1, held, 1, basis, start + 40_000)).toEqual([start + 90_000]);
});

test('an adopted disk or an unfinished download is no basis for the forecast', () => {
  const adopted = aVMDiskImage({
    status: {
      phase: 'Succeeded',
      revision: 1,
      adoption: { snapshot: 's', revision: 1 },
      startedAt: at(0),
      completedAt: at(1),
    },
  });
  expect(basisOf([adopted, syncing, queued('a', 1)])).toBeUndefined();
  expect(basisOf([done('a', 10), done('b', 90), done('c', 20)])).toEqual({
    count: 3,
    medianMs: 20_000,
    leastMs: 10_000,
    mostMs: 90_000,
  });
});
