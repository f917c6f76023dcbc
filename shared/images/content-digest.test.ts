import { expect, test } from 'vitest';
import { aVMDiskImage, type ImageOptions } from '../../test/support/builders/images.ts';
import { contentDigest } from './content-digest.ts';

const changed = (options: ImageOptions) => contentDigest(aVMDiskImage(options)) !== contentDigest(aVMDiskImage());

test.each<[string, ImageOptions]>([
  ['url', { spec: { url: 'https://s3.eu-west-1.amazonaws.com/images/b.qcow2' } }],
  ['sourceType', { spec: { sourceType: 'http' } }],
  ['checksum', { spec: { checksum: `sha256:${'0'.repeat(64)}` } }],
  ['diskSize', { spec: { diskSize: '30Gi' } }],
  ['storageClass', { spec: { storageClass: 'io2' } }],
  ['snapshotClass', { spec: { snapshotClass: 'ceph' } }],
  ['sync-requested', { annotations: { 'pelotech.ot/sync-requested': '1' } }],
  ['published-content', { annotations: { 'pelotech.ot/published-content': '1' } }],
])('another %s is another content', (_, options) => {
  expect(changed(options)).toBe(true);
});

test.each<[string, ImageOptions]>([
  ['name', { spec: { name: 'other' } }],
  ['secretRef', { spec: { secretRef: 'other' } }],
  ['certConfigMap', { spec: { certConfigMap: 'other' } }],
  ['label', { labels: { team: 'other' } }],
])('another %s is the same content', (_, options) => {
  expect(changed(options)).toBe(false);
});
