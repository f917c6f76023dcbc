import { describe, expect, test } from 'vitest';
import { basisOf, startsOf } from '../../shared/images/forecast.ts';
import { slotsAnnotation } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { queueLines, queueObjects, queueOf, type Read } from './queue-view.ts';

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
  aVMDiskImage({
    name,
    status: { phase: 'Queued', queuedAt: at(seconds), message: 'Waiting for a free slot; all 4 were held at 10:00.' },
  });
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

test('a slot of which there are too many, or none, is not counted among those that exist', () => {
  const slots = (concurrency: string, more: Partial<Read> = {}) =>
    queueLines(queueOf(read({ policy: parsePolicy({ data: { concurrency } }), ...more }), nowMs), nowMs, look)[1];
  expect(slots('0')).toBe('1 slot still held, 0 allowed, 2 waiting, 1 to be retried.');
  expect(slots('0', { lease: leaseOf() })).toBe('no slots, 2 waiting, 1 to be retried.');
});

test('an image that was queued before a pause is said to wait for its end', () => {
  const paused = read({ policy: parsePolicy({ data: { concurrency: '0' } }) });
  expect(queueLines(queueOf(paused, nowMs), nowMs, look)).toContain(
    '1      vmdi-farm/a  50s    unknown  Waiting for the end of the pause.',
  );
});

test('an image that may start once its source is inspected is not said to start at any moment', () => {
  const lines = (inspectTimeout: string) =>
    queueLines(
      queueOf(read({ lease: leaseOf(), policy: parsePolicy({ data: { inspectTimeout } }) }), nowMs),
      nowMs,
      look,
    );
  expect(lines('5m')).toContain('1      vmdi-farm/a  50s    once inspected  Waiting for the inspection of its source.');
  expect(lines('0s')).toContain('1      vmdi-farm/a  50s    now     Waiting for a free slot.');
});

test('a download of which CDI tells nothing has an estimated progress, and the forecast counts with it', () => {
  const source = { bytes: 3000, inspectedAt: at(0), queuedAt: at(0) };
  const past = done('old', 30);
  const busy = { phase: 'Syncing', progress: 'N/A', startedAt: at(30), source: { ...source, bytes: 6000 } } as const;
  const images = [
    queued('a', 10),
    aVMDiskImage({ name: 'busy', status: busy }),
    { ...past, status: { ...past.status, source } },
  ];
  const view = queueOf(read({ images }), nowMs);
  expect(view.slots[0]?.progress).toBe('~50%, about 30s left');
  expect(queueLines(view, nowMs, look).join(' ')).toContain('in about 30s');
});

test('the forecast counts with the estimate from the beginning of a download, and says no other time than its progress', () => {
  const source = { bytes: 3000, inspectedAt: at(0), queuedAt: at(0) };
  const past = done('old', 30);
  const startedAt = new Date(nowMs - 1000).toISOString();
  const busy = { phase: 'Syncing', progress: 'N/A', startedAt, source: { ...source, bytes: 60_000 } } as const;
  const images = [
    queued('a', 10),
    aVMDiskImage({ name: 'busy', status: busy }),
    { ...past, status: { ...past.status, source } },
  ];
  const view = queueOf(read({ images }), nowMs);
  expect(view.slots[0]?.progress).toContain('about 10m left');
  expect(queueLines(view, nowMs, look).join(' ')).toContain('in about 10m');
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
  const lines = queueLines(view, nowMs, look);
  // What stops all of them comes before anything else.
  expect(lines.at(view.stopped ? 0 : -1)).toMatch(says);
  expect(lines.at(-1)).toContain('unknown');
});

const queueIn = (...namespaces: string[]) =>
  namespaces.map((namespace, index) => aVMDiskImage({ namespace, name: `q${index}`, status: { phase: 'Queued' } }));
const limits = (concurrency: number, slotsPerNamespace?: number) => ({ concurrency, slotsPerNamespace });

test('the forecast fills free slots at once, then one slot after each download that ends', () => {
  const basis = { count: 1, medianMs: 100, leastMs: 100, mostMs: 100 };
  expect(startsOf(queueIn('a', 'a', 'a', 'a'), [], limits(2), basis, 0)).toEqual([0, 0, 100, 100]);
  expect(startsOf(queueIn('a', 'a'), [], limits(1), undefined, 0)).toEqual([0, undefined]);
  expect(startsOf(queueIn('a', 'a'), [], limits(0), basis, 0)).toEqual([undefined, undefined]);
});

test('of a long queue only the first thousand have a forecast, and the last line says so', () => {
  const images = [...Array.from({ length: 1001 }, (_, index) => queued(`q${index}`, index)), done('old', 30)];
  const view = queueOf(read({ images, lease: undefined }), nowMs);
  expect(view.waiting.slice(-2).map(({ startsAt }) => startsAt !== null)).toEqual([true, false]);
  expect(queueLines(view, nowMs, look).at(-1)).toMatch(/Behind place 1000 it is unknown\.$/);
});

test('the forecast lets the next go ahead of an image whose namespace has all of its slots', () => {
  const basis = { count: 1, medianMs: 100, leastMs: 100, mostMs: 100 };
  expect(startsOf(queueIn('a', 'a', 'b'), [], limits(2, 1), basis, 0)).toEqual([0, 100, 0]);
  expect(startsOf(queueIn('a', 'a'), [], limits(2, 1), undefined, 0)).toEqual([0, undefined]);
});

test('an image whose namespace has all of its slots does not start now', () => {
  const other = aVMDiskImage({
    ...{ namespace: 'lab', name: 'c' },
    status: { phase: 'Queued', queuedAt: at(30), message: 'Waiting for a free slot.' },
  });
  const policy = parsePolicy({ data: { concurrency: '2', slotsPerNamespace: '1' } });
  const view = queueOf(read({ images: [queued('a', 10), other, syncing, done('old', 30)], policy }), nowMs);
  expect(queueLines(view, nowMs, look).filter((line) => line.includes('Waiting'))).toEqual([
    expect.stringMatching(/vmdi-farm\/a .* in about 30s/),
    expect.stringMatching(/lab\/c .* now /),
  ]);
});

test('with a lowered limit, no image starts until enough slots are free', () => {
  const basis = { count: 1, medianMs: 60_000, leastMs: 1, mostMs: 1 };
  const held = [0, 30].map((seconds) => ({ holder: holder(`h${seconds}`, seconds), share: undefined }));
  expect(startsOf(queueIn('a'), held, limits(1), basis, start + 40_000)).toEqual([start + 90_000]);
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

describe('the lines of -w', () => {
  const objectsOf = (more: Partial<Read>) => queueObjects(queueOf(read(more), nowMs));

  test('of those behind do not change when an image starts', () => {
    const waits = { image: 'vmdi-farm/b', says: 'waits: Waiting for a free slot.' };
    expect(objectsOf({})).toContainEqual(waits);
    expect(objectsOf({ images: [queued('b', 20), syncing] })).toContainEqual(waits);
  });

  test('tell each existing image once', () => {
    const failed = aVMDiskImage({ name: 'busy', status: { phase: 'Retrying', nextAttemptAt: at(240) } });
    const again = queued('gone', 20);
    const lease = leaseOf(
      { ...holder('busy', 30), image: '' },
      { ...holder('gone', 40), uid: 'uid-before' },
      { ...holder('nobody', 40), image: '' },
    );
    expect(objectsOf({ images: [failed, again], lease })).toEqual([
      { image: 'vmdi-farm/busy', says: 'holds a slot: Retrying, attempt 1' },
      { image: 'vmdi-farm/gone', says: 'waits: Waiting for a free slot.' },
    ]);
  });
});

test('the next is who may start, not who waits for an inspection or for another of the same content', () => {
  const source = { bytes: 1, content: 'same', inspectedAt: at(1), queuedAt: at(10) };
  const inspected = [
    { type: 'SourceInspected', status: 'True', reason: 'Inspected', message: '', lastTransitionTime: at(1) },
  ] as const;
  const of = (name: string, queuedAt: string) =>
    aVMDiskImage({
      name,
      status: { phase: 'Queued', queuedAt, source: { ...source, queuedAt }, conditions: [...inspected] },
    });
  const images = [of('first', at(10)), of('same', at(11)), queued('uninspected', 40)];
  const view = queueOf(read({ images, lease: leaseOf(), policy: parsePolicy({ data: { concurrency: '3' } }) }), nowMs);
  expect(view.waiting.map(({ image, isNext, waitsFor }) => [image, isNext, waitsFor])).toEqual([
    ['vmdi-farm/first', true, 'SlotFree'],
    ['vmdi-farm/same', false, 'SameContent'],
    ['vmdi-farm/uninspected', false, 'Inspection'],
  ]);
});
