import { expect, test } from 'vitest';
import { VMDiskImage } from './vm-disk-image.ts';

const spec = {
  url: 'https://s3.eu-west-1.amazonaws.com/images/ubuntu.qcow2',
  secretRef: 's3-reader',
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  diskSize: '24Gi',
};
const read = (status: unknown) => VMDiskImage.parse({ metadata: { name: 'ubuntu' }, spec, status }).status;
const known = { phase: 'Succeeded', revision: 3, contentDigest: 'abc' };

test('a phase that another version writes is read unchanged', () => {
  expect(read({ ...known, phase: 'Verifying' })).toEqual({ ...known, phase: 'Verifying' });
  expect(read({ ...known, phase: 7 })).toEqual({ ...known, phase: '7' });
});

test.each([
  ['an unknown field', { verifiedAt: 'today' }],
  ['conditions of another shape', { conditions: [{ type: 'Ready', status: 'Maybe' }] }],
  ['a snapshot without a name', { snapshot: { revision: 1 } }],
  ['text in place of a number', { attempt: 'one' }],
])('%s affects no other field of the status', (_, garbage) => {
  expect(read({ ...known, ...garbage })).toEqual(known);
});

test('a status that is no object is read as absent', () => {
  expect(read('Succeeded')).toBeUndefined();
});
