import { describe, expect, test } from 'vitest';
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

describe('what is said of an image', () => {
  test.each([
    [
      'that failed',
      image({ phase: 'Failed', message: 'unexpected EOF' }),
      'ubuntu: expected Succeeded, found Failed (unexpected EOF)',
    ],
    ['that nobody looked at', image({ phase: '', message: '' }), 'ubuntu: expected Succeeded, found no phase'],
    ['that took another attempt', image({ attempts: 2 }), 'ubuntu: expected 1 attempts, found 2'],
    ['that was missing and tried again', missing({ attempts: 3 }), 'ubuntu: expected 1 attempts, found 3'],
    [
      'that failed for another reason',
      missing({ reason: 'AccessDenied' }),
      'ubuntu: expected reason NotFound, found AccessDenied',
    ],
    ['without its snapshot', image({ hasSnapshot: false }), 'ubuntu: expected a ready snapshot, found the contrary'],
    ['with a snapshot of nothing', missing({ hasSnapshot: true }), 'ubuntu: expected no snapshot, found the contrary'],
    ['that is not all there', image({ bytesDownloaded: 999 }), 'ubuntu: Succeeded with 999 of 1000 bytes'],
    [
      'that was downloaded more often than it was tried',
      image({ bytesDownloaded: 1001 + slackBytesPerAttempt }),
      `ubuntu: expected at most ${1000 + slackBytesPerAttempt} bytes downloaded in 1 attempts, found ${1001 + slackBytesPerAttempt}`,
    ],
  ])('%s', (_, found, expected) => {
    expect(judge(found)).toEqual([expected]);
  });
});

describe('what is said of all of them', () => {
  test.each<[string, Partial<ImagesResult>, string]>([
    ['too many slots', { most: { slots: 3, importers: 2 } }, 'slots: expected at most 2 at once, found 3'],
    ['too many importers', { most: { slots: 2, importers: 4 } }, 'importers: expected at most 2 at once, found 4'],
    [
      'the wrong one in front',
      { startOrder: ['debian', 'ubuntu'] },
      'order: expected ubuntu to get the slot number 1, found debian',
    ],
    ['nobody at all', { startOrder: [] }, 'order: expected ubuntu to get the slot number 1, found nobody'],
    ['one overtaken', { overtakings: ['b got its slot before a'] }, 'order: b got its slot before a'],
    ['something left', { leftOver: ['Pod x', 'slot of y'] }, 'left over: expected nothing, found Pod x, slot of y'],
  ])('%s', (_, more, expected) => {
    expect(judge(image(), more)).toEqual([expected]);
  });
});
