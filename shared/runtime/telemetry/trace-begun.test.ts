import { expect, test } from 'vitest';
import { contentDigest } from '../../images/content-digest.ts';
import type { VMDiskImage } from '../../kinds/pelotech/vm-disk-image.ts';
import { traceBegunBy } from './trace-begun.ts';

const apiVersion = 'pelotech.ot/v1alpha1';
const metadata = {
  name: 'one',
  namespace: 'lab',
  uid: '8f3c',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '',
};
const image = (status?: object) => ({
  apiVersion,
  kind: 'VMDiskImage',
  metadata,
  spec: { url: 'https://s3/a' },
  status,
});
const synced = contentDigest(image() as unknown as VMDiskImage);

test.each([
  ['an image that nobody has looked at', undefined, 1],
  ['one that is as it was synced', { phase: 'Succeeded', revision: 3, contentDigest: synced }, 3],
  ['one that says something else than what was synced', { phase: 'Succeeded', revision: 3, contentDigest: 'b' }, 4],
])('%s begins, or goes on with, its revision', (_, status, revision) => {
  expect(traceBegunBy(image(status))).toEqual({ uid: '8f3c', revision });
});

test('a machine of ours has a life, and what is no kind of ours none', () => {
  expect(traceBegunBy({ apiVersion, kind: 'VirtualMachine', metadata })).toEqual({ machine: { uid: '8f3c' } });
  expect(traceBegunBy({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata })).toBeUndefined();
  expect(traceBegunBy({ apiVersion: 'v1', kind: 'Secret', metadata })).toBeUndefined();
});
