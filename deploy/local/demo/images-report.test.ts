import { expect, test } from 'vitest';
import { slackBytesPerAttempt } from './faults.ts';
import { type ImageResult, type ImagesResult, imagesFaults } from './images-report.ts';
import { aMissingImage, anImage, images } from './samples.ts';

test.each([
  ['an image that was downloaded once', anImage()],
  ['a missing object that was asked for once', aMissingImage()],
  ['an attempt that downloads a little more', anImage({ bytesDownloaded: 1000 + slackBytesPerAttempt })],
])('there is nothing to say against %s', (_, found) => {
  expect(imagesFaults(images({ images: [found] }))).toEqual([]);
});

const failed = { phase: 'Failed', message: 'unexpected EOF' } as const;
const limit = 1000 + slackBytesPerAttempt;
test.each<[string, ImageResult]>([
  ['ubuntu: expected Succeeded, found Failed (unexpected EOF)', anImage(failed)],
  ['ubuntu: expected Succeeded, found no phase', anImage({ phase: '', message: '' })],
  ['ubuntu: expected 1 attempts, found 2', anImage({ attempts: 2 })],
  ['ubuntu: expected 1 attempts, found 3', aMissingImage({ attempts: 3 })],
  ['ubuntu: expected reason NotFound, found AccessDenied', aMissingImage({ reason: 'AccessDenied' })],
  ['ubuntu: expected a ready snapshot, found the contrary', anImage({ hasSnapshot: false })],
  ['ubuntu: expected no snapshot, found the contrary', aMissingImage({ hasSnapshot: true })],
  ['ubuntu: Succeeded with 999 of 1000 bytes', anImage({ bytesDownloaded: 999 })],
  [
    `ubuntu: expected at most ${limit} bytes downloaded in 1 attempts, found ${limit + 1}`,
    anImage({ bytesDownloaded: limit + 1 }),
  ],
])('it is a fault of an image: %s', (fault, found) => {
  expect(imagesFaults(images({ images: [found] }))).toEqual([fault]);
});

test.each<[string, Partial<ImagesResult>]>([
  ['slots: expected at most 2 at once, found 3', { most: { slots: 3, importers: 2 } }],
  ['importers: expected at most 2 at once, found 4', { most: { slots: 2, importers: 4 } }],
  ['order: expected ubuntu to get the slot number 1, found debian', { startOrder: ['debian', 'ubuntu'] }],
  ['order: expected ubuntu to get the slot number 1, found nobody', { startOrder: [] }],
  ['order: b got its slot before a', { overtakings: ['b got its slot before a'] }],
  ['left over: expected nothing, found Pod x, slot of y', { leftOver: ['Pod x', 'slot of y'] }],
])('it is a fault of the act: %s', (fault, more) => {
  expect(imagesFaults(images(more))).toEqual([fault]);
});
