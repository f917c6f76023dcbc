import { expect, test } from 'vitest';
import { slackBytesPerAttempt } from './faults.ts';
import { type ImageResult, type ImagesResult, imagesFaults } from './images-report.ts';

const image = (more: Partial<ImageResult> = {}): ImageResult => ({
  name: 'ubuntu',
  phase: 'Succeeded',
  expected: { phase: 'Succeeded', attempts: 1 },
  attempts: 1,
  waitedSeconds: 1,
  bytesDownloaded: 1000,
  bytesNeeded: 1000,
  ratio: 1,
  hasSnapshot: true,
  reason: 'SnapshotReady',
  message: 'Ready.',
  steps: [],
  ...more,
});

const missing = (more: Partial<ImageResult> = {}) =>
  image({
    phase: 'Failed',
    expected: { phase: 'Failed', attempts: 1, reason: 'NotFound' },
    reason: 'NotFound',
    bytesDownloaded: 0,
    bytesNeeded: 0,
    hasSnapshot: false,
    ...more,
  });

const judge = (found: ImageResult, more: Partial<ImagesResult> = {}) =>
  imagesFaults({
    policy: { concurrency: 2, retryLimit: 2 },
    most: { slots: 2, importers: 2 },
    startOrder: ['ubuntu'],
    overtakings: [],
    leftOver: [],
    bytesDownloaded: 0,
    bytesNeeded: 0,
    images: [found],
    ...more,
  });

test.each([
  ['an image that was downloaded once', image()],
  ['a missing object that was asked for once', missing()],
  ['an attempt that downloads a little more', image({ bytesDownloaded: 1000 + slackBytesPerAttempt })],
])('there is nothing to say against %s', (_, found) => {
  expect(judge(found)).toEqual([]);
});

const failed = { phase: 'Failed', message: 'unexpected EOF' } as const;
const limit = 1000 + slackBytesPerAttempt;
test.each<[string, ImageResult]>([
  ['ubuntu: expected Succeeded, found Failed (unexpected EOF)', image(failed)],
  ['ubuntu: expected Succeeded, found no phase', image({ phase: '', message: '' })],
  ['ubuntu: expected 1 attempts, found 2', image({ attempts: 2 })],
  ['ubuntu: expected 1 attempts, found 3', missing({ attempts: 3 })],
  ['ubuntu: expected reason NotFound, found AccessDenied', missing({ reason: 'AccessDenied' })],
  ['ubuntu: expected a ready snapshot, found the contrary', image({ hasSnapshot: false })],
  ['ubuntu: expected no snapshot, found the contrary', missing({ hasSnapshot: true })],
  ['ubuntu: Succeeded with 999 of 1000 bytes', image({ bytesDownloaded: 999 })],
  [
    `ubuntu: expected at most ${limit} bytes downloaded in 1 attempts, found ${limit + 1}`,
    image({ bytesDownloaded: limit + 1 }),
  ],
])('it is a fault of an image: %s', (fault, found) => {
  expect(judge(found)).toEqual([fault]);
});

test.each<[string, Partial<ImagesResult>]>([
  ['slots: expected at most 2 at once, found 3', { most: { slots: 3, importers: 2 } }],
  ['importers: expected at most 2 at once, found 4', { most: { slots: 2, importers: 4 } }],
  ['order: expected ubuntu to get the slot number 1, found debian', { startOrder: ['debian', 'ubuntu'] }],
  ['order: expected ubuntu to get the slot number 1, found nobody', { startOrder: [] }],
  ['order: b got its slot before a', { overtakings: ['b got its slot before a'] }],
  ['left over: expected nothing, found Pod x, slot of y', { leftOver: ['Pod x', 'slot of y'] }],
])('it is a fault of the act: %s', (fault, more) => {
  expect(judge(image(), more)).toEqual([fault]);
});
