import { expect, test } from 'vitest';
import { aLease, aVMDiskImage, type ImageOptions } from '../../test/support/builders/images.ts';
import type { Lease } from '../kinds/coordination/lease.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { bytesSince, egressIn } from './egress.ts';
import { egressAnnotationsWith, sharesSince } from './egress-shares.ts';

const dayMs = 86_400_000;
const nowMs = Date.parse('2026-11-27T12:00:00Z');
const inspected = { inspectedAt: '2026-11-27T00:00:00Z', queuedAt: '2026-11-27T00:00:00.000000Z' };
const anImage = (name: string, bytes: number, more: ImageOptions = {}) =>
  aVMDiskImage({ name, status: { phase: 'Queued', source: { bytes, ...inspected } }, ...more });
const askedBy = (name: string, namespace?: string) => ({
  'app.kubernetes.io/created-by': namespace ? 'ensure-vmdi' : 'compose-workspace',
  'pelotech.ot/requested-by': name,
  ...(namespace ? { 'pelotech.ot/requested-by-namespace': namespace } : {}),
});

/** The Lease after attempts of these images begin. */
function after(lease: Lease, images: readonly VMDiskImage[], ms = nowMs): Lease {
  const annotations = { ...lease.metadata.annotations, ...egressAnnotationsWith(lease, images, ms) };
  return { ...lease, metadata: { ...lease.metadata, annotations } };
}
const sharesOf = (lease: Lease, by: 'requester' | 'image', days = 1, ms = nowMs) =>
  Object.fromEntries(sharesSince(lease, by, days, ms));
const sizeOf = (lease: Lease, by: string) => lease.metadata.annotations?.[`pelotech.ot/egress-by-${by}`]?.length;

test('bytes are those of who asked: a Workspace, a VirtualMachine, a publication, or who created the image itself', () => {
  const images = [
    anImage('a', 1, { labels: askedBy('demo') }),
    anImage('b', 2, { labels: askedBy('demo') }),
    anImage('c', 4, { labels: askedBy('web', 'lab') }),
    // A pipeline took over what a template made.
    anImage('d', 8, { labels: { ...askedBy('web', 'lab'), 'app.kubernetes.io/created-by': 'preload' } }),
    anImage('e', 16),
  ];
  const lease = after(after(aLease([]), images), images.slice(3));
  expect(sharesOf(lease, 'requester')).toEqual({
    'Workspace demo': 3,
    'VirtualMachine lab/web': 4,
    publication: 16,
    direct: 32,
  });
  expect(sharesOf(lease, 'image')).toMatchObject({ 'vmdi-farm/a': 1, 'vmdi-farm/e': 32 });
  expect(bytesSince(egressIn(lease), 1, nowMs)).toBe(55);
});

test('of today fifty are kept by name, of an earlier day its ten largest, and what the Lease has no name for are others', () => {
  const images = Array.from({ length: 60 }, (_, index) => anImage(`i${index}`, 100 + index));
  let lease = after(aLease([]), images.slice(0, 25));
  for (const image of images.slice(25)) lease = after(lease, [image]);
  const names = (length: number, first: number) =>
    Array.from({ length }, (_, index) => `vmdi-farm/i${first + index}`).sort();
  const { others, ...named } = sharesOf(lease, 'image');
  expect(Object.keys(named).sort()).toEqual(names(50, 10));
  expect(others).toBe(bytesSince(egressIn(lease), 1, nowMs) - Object.values(named).reduce((sum, bytes) => sum + bytes));
  const later = nowMs + dayMs;
  const { others: _, ...kept } = sharesOf(after(lease, [anImage('i0', 1)], later), 'image', 2, later);
  expect(Object.keys(kept).sort()).toEqual([...names(10, 50), 'vmdi-farm/i0'].sort());
});

test('an eleventh name that begins often and with little has its sum', () => {
  let lease = after(
    aLease([]),
    Array.from({ length: 10 }, (_, index) => anImage(`i${index}`, 24)),
  );
  for (let times = 0; times < 50; times++) lease = after(lease, [anImage('big', 24)]);
  const { others, ...named } = sharesOf(lease, 'image');
  expect(named).toMatchObject({ 'vmdi-farm/big': 1200, 'vmdi-farm/i9': 24 });
  expect(others).toBeUndefined();
});

test('where all do not fit, the smallest of today go before an earlier day does', () => {
  const long = (count: number, day: string) =>
    Array.from({ length: count }, (_, index) =>
      anImage(`${day}-${index}`.padEnd(200, 'x'), 100 + index, { namespace: 'n'.repeat(63) }),
    );
  const later = nowMs + dayMs;
  const lease = after(after(aLease([]), long(12, 'a')), long(60, 'b'), later);
  expect(sizeOf(lease, 'image')).toBeLessThanOrEqual(16 * 1024);
  const { others: _, ...named } = sharesOf(lease, 'image', 2, later);
  const of = (day: string) => Object.entries(named).filter(([name]) => name.includes(`/${day}-`));
  expect(of('a')).toHaveLength(10);
  expect(of('b').length).toBeGreaterThan(40);
  expect(Math.min(...of('b').map(([, bytes]) => bytes))).toBe(160 - of('b').length);
});

test('days before there were shares, and days that no budget can ask for any more', () => {
  const egress = JSON.stringify({ '2026-11-25': { lab: 5 } });
  const before = aLease([]);
  Object.assign(before.metadata.annotations ?? {}, { 'pelotech.ot/egress': egress });
  const lease = after(before, [anImage('a', 1)]);
  expect(sharesOf(lease, 'image', 3)).toEqual({ 'vmdi-farm/a': 1, others: 5 });
  expect(sharesOf(lease, 'image', 1)).toEqual({ 'vmdi-farm/a': 1 });
  const later = nowMs + 31 * dayMs;
  expect(sharesOf(after(lease, [anImage('b', 2)], later), 'image', 31, later)).toEqual({ 'vmdi-farm/b': 2 });
});

test('a clone of another snapshot is no share', () => {
  const clone = aVMDiskImage({ status: { phase: 'Queued', sharedFrom: { image: 'a', snapshot: 's' } } });
  expect(sharesOf(after(aLease([]), [clone]), 'image')).toEqual({});
});

test('a month of ten names a day fits, and of longer names the last days are kept', () => {
  const fill = (nameOf: (day: number, index: number) => ImageOptions) => {
    let lease = aLease([]);
    for (let day = 0; day < 31; day++) {
      const images = Array.from({ length: 12 }, (_, index) => anImage('x', 20 * 2 ** 30 + index, nameOf(day, index)));
      lease = after(lease, images, nowMs + day * dayMs);
    }
    return lease;
  };
  const later = nowMs + 30 * dayMs;
  const usual = fill((day, index) => ({
    name: `windows-2022-${day}-${index}`,
    labels: askedBy(`web-${index}`, 'team-a'),
  }));
  expect(sizeOf(usual, 'image')).toBeLessThan(14_500);
  expect(sizeOf(usual, 'requester')).toBeLessThan(14_500);
  // Thirty days of ten, the twelve of today, and others.
  expect(Object.keys(sharesOf(usual, 'image', 31, later))).toHaveLength(313);
  const longest = fill((day, index) => ({
    namespace: 'n'.repeat(63),
    name: `${day}-${index}`.padEnd(253, 'x'),
    labels: askedBy(`${day}-${index}`.padEnd(63, 'x'), 'n'.repeat(63)),
  }));
  expect(sizeOf(longest, 'image')).toBeLessThanOrEqual(16 * 1024);
  expect(sizeOf(longest, 'requester')).toBeLessThanOrEqual(16 * 1024);
  expect(Object.keys(sharesOf(longest, 'image', 1, later))).toHaveLength(11);
  const total = bytesSince(egressIn(longest), 31, later);
  expect(Object.values(sharesOf(longest, 'image', 31, later)).reduce((sum, bytes) => sum + bytes)).toBe(total);
});
