import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { recognise } from '../importer/recognise.ts';
import { demoImages, manifestOf } from './images.ts';

const images = demoImages();
const where = { namespace: 'vmdi-farm', storeUrl: 'http://127.0.0.1:9', secretName: 's3-reader' };

test('eight images are sound, one connection breaks, one object is missing', () => {
  const expected = images.map(({ expected: { phase, attempts } }) => `${phase} ${attempts}`);
  expect(expected.filter((what) => what === 'Succeeded 1')).toHaveLength(8);
  expect(expected.filter((what) => what === 'Succeeded 3')).toHaveLength(1);
  expect(expected.filter((what) => what === 'Failed 1')).toHaveLength(1);
});

test('what lies in the store is what its name says', () => {
  for (const { key, content } of images) {
    if (!content) continue;
    const inner = key.endsWith('.gz') ? gunzipSync(content) : content;
    expect(recognise(inner), key).toEqual({ format: /\.qcow2/.test(key) ? 'qcow2' : 'raw' });
  }
});

test('only images from S3 name the Secret, only the one from a web server a checksum', () => {
  for (const image of images) {
    const { spec } = manifestOf(image, where) as unknown as { spec: Record<string, string> };
    expect([spec.sourceType, 'secretRef' in spec, 'checksum' in spec]).toEqual(
      image.sourceType === 's3' ? ['s3', true, false] : ['http', false, true],
    );
  }
});
