import { describe, expect, test } from 'vitest';
import { at, aVMDiskImage, type ImageOptions } from '../../test/support/builders/images.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../kinds/pelotech/vm-disk-image.ts';
import {
  contentOf,
  contentsUnderWay,
  oneOfEachContent,
  sharedContentOf,
  waitsForContent,
  wantedContent,
} from './shared-content.ts';

type Spec = VMDiskImage['spec'];
const host = 'https://s3.eu-west-1.amazonaws.com';
const sum = `sha256:${'a'.repeat(64)}`;
const http = { sourceType: 'http', url: 'https://mirror.example/a.qcow2', secretRef: undefined } as Partial<Spec>;

const told = (spec: Partial<Spec> = {}, found: Partial<Parameters<typeof sharedContentOf>[1]> = {}) =>
  sharedContentOf(aVMDiskImage({ spec }), { bytes: 5, etag: '"abc"', ...found });

describe('two images are of one content', () => {
  const pairs: [string, Partial<Spec>, Partial<Spec>][] = [
    ['by one ETag at one S3 server', {}, { url: `${host}/another-bucket/key` }],
    ['by one ETag of one URL', http, http],
    ['by one checksum, wherever they are', { ...http, checksum: sum }, { ...http, url: 'http://b/b', checksum: sum }],
    ['with other Secrets', {}, { secretRef: 'other' }],
  ];
  test.each(pairs)('%s', (_, one, other) => {
    expect(told(one)).toMatch(/^[0-9a-f]{32}$/);
    expect(told(other)).toBe(told(one));
  });
  test('by one checksum, whatever their ETags', () => {
    expect(told({ ...http, checksum: sum }, { etag: undefined })).toBe(told({ ...http, checksum: sum }));
  });
});

describe('two images are of different contents', () => {
  const pairs: [string, Partial<Spec>, Partial<Spec>][] = [
    ['at two servers, whatever their ETags', {}, { url: 'https://s3.evil.example/images/ubuntu.qcow2' }],
    ['at two URLs of a web server', http, { ...http, url: 'https://mirror.example/b.qcow2' }],
    ['for disks of two sizes', {}, { diskSize: '48Gi' }],
    ['in two classes', {}, { storageClass: 'io2' }],
    ['with snapshots of two classes', {}, { snapshotClass: 'other' }],
    ['if one is checked by a sum that others can forge', http, { ...http, checksum: `md5:${'a'.repeat(32)}` }],
  ];
  test.each(pairs)('%s', (_, one, other) => {
    expect(told(one)).toMatch(/^[0-9a-f]{32}$/);
    expect(told(other)).not.toBe(told(one));
  });
  test('with two ETags, or two lengths', () => {
    expect(told({}, { etag: '"abd"' })).not.toBe(told());
    expect(told({}, { bytes: 6 })).not.toBe(told());
  });
});

test.each([
  ['a weak ETag', { etag: 'W/"abc"' }],
  ['an empty ETag', { etag: '""' }],
  ['no ETag', { etag: undefined }],
  ['no length', { bytes: undefined }],
])('%s tells no content', (_, found) => {
  expect(told({}, found)).toBeUndefined();
});

const image = (name: string, status: VMDiskImageStatus, content = 'same', more: ImageOptions = {}) =>
  aVMDiskImage({
    name,
    ...more,
    status: {
      revision: 1,
      queuedAt: at(1),
      source: { content, inspectedAt: at(2), queuedAt: at(1) },
      ...status,
    },
  });
const sharedFrom = { image: 'first', snapshot: 'first-r1' };

test('the content of an image is that of its present revision, and of its namespace', () => {
  expect(contentOf(image('a', {}))).toBe('vmdi-farm/same');
  expect(contentOf(image('a', {}, 'same', { namespace: 'lab' }))).toBe('lab/same');
  expect(contentOf(image('a', { queuedAt: at(9) }))).toBeUndefined();
  expect(contentOf(image('a', { adoption: { snapshot: 'golden', revision: 1 } }))).toBeUndefined();
  expect(contentOf(aVMDiskImage())).toBeUndefined();
});

test.each<[string, VMDiskImageStatus, string | undefined]>([
  ['a queued image', {}, 'vmdi-farm/same'],
  ['one whose sync a person requested', { syncRequested: 'today' }, undefined],
  ['one whose clone has failed', { sharedFrom }, undefined],
])('%s wants the content of another: %o', (_, status, wanted) => {
  expect(wantedContent(image('a', { phase: 'Queued', ...status }))).toBe(wanted);
});

test.each<[string, VMDiskImageStatus, ImageOptions, boolean]>([
  ['that downloads', { phase: 'Syncing' }, {}, true],
  ['that waits for its snapshot', { phase: 'Snapshotting' }, {}, true],
  ['that holds a slot', { phase: 'Queued' }, {}, true],
  ['that is cloned', { phase: 'Syncing', sharedFrom }, {}, false],
  ['that has failed once', { phase: 'Retrying' }, {}, false],
  ['that is being deleted', { phase: 'Syncing' }, { deleted: true }, false],
  ['of another namespace', { phase: 'Syncing' }, { namespace: 'lab' }, false],
  [
    'of another content',
    { phase: 'Syncing', source: { content: 'b', inspectedAt: at(2), queuedAt: at(1) } },
    {},
    false,
  ],
])('whether an image waits for another %s: %o', (_, status, more, waits) => {
  const first = image('first', status, 'same', more);
  const second = image('second', { phase: 'Queued' });
  expect(waitsForContent(second, contentsUnderWay([first, second], [first.metadata]))).toBe(waits);
});

test('of the images that want one content the first in the queue gets a slot, and those of other contents beside it', () => {
  const at9 = { queuedAt: at(9), source: { content: 'same', inspectedAt: at(9), queuedAt: at(9) } };
  const [late, early, other] = [
    image('late', { phase: 'Queued', ...at9 }),
    image('early', { phase: 'Queued' }),
    image('other', { phase: 'Queued' }, 'other'),
  ];
  expect(oneOfEachContent([late, early, other])).toEqual([early, other]);
});
