import { expect, test } from 'vitest';
import { aVMDiskImage } from '../../../test/support/builders/images.ts';
import { dataVolumeFor } from './data-volume.ts';

type Spec = Parameters<typeof dataVolumeFor>[0]['spec'];

const sourceOf = (spec: Partial<Spec>) => dataVolumeFor(aVMDiskImage({ spec }), 1, 1).spec.source;
const url = 'https://mirror.example/a.qcow2';
const checksum = `sha256:${'0'.repeat(64)}`;

test.each<[string, Partial<Spec>, object]>([
  ['S3 with a Secret', { url }, { s3: { url, secretRef: 's3-reader' } }],
  ['a CA', { url, certConfigMap: 'ca' }, { s3: { url, secretRef: 's3-reader', certConfigMap: 'ca' } }],
  ['a checksum', { url, sourceType: 'http', secretRef: undefined, checksum }, { http: { url, checksum } }],
  [
    'a registry',
    { url: 'docker://r.example/a', sourceType: 'registry', secretRef: undefined },
    { registry: { url: 'docker://r.example/a' } },
  ],
] as [string, Partial<Spec>, object][])('the DataVolume of an image from %s has what CDI needs', (_, spec, source) => {
  expect(sourceOf(spec)).toEqual(source);
});
