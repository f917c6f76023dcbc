import { expect, test } from 'vitest';
import { downloadOf, missingLine } from '../../../shared/images/sources.ts';
import { isValid, parsePolicy } from '../../../shared/policy.ts';
import { aVMDiskImage } from '../../support/builders/images.ts';
import { benchNamespace, benchPolicy, imageSpec, startSource } from './images.ts';

test('what the bench asks for is allowed by its policy, and by no policy without it', () => {
  const source = { url: 'http://172.30.0.1:5' };
  const image = aVMDiskImage({ namespace: benchNamespace, spec: imageSpec(source) });
  const policy = parsePolicy({ data: benchPolicy(source, 4) });
  expect(isValid(policy, 'concurrency', 'imageNamespaces', 'allowedSources')).toBe(true);
  expect(missingLine(policy, downloadOf(image))).toBeUndefined();
  expect(missingLine(parsePolicy({ data: {} }), downloadOf(image))).toBeDefined();
});

test('its source shows the beginning of a disk to who looks, and counts the looks', async () => {
  const source = await startSource('127.0.0.1');
  const [one, other] = ['a', 'b'].map((name) => `${source.url}/${name}/disk.qcow2`) as [string, string];
  const head = await fetch(one, { method: 'HEAD' });
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0x30000);
  const begun = await fetch(other, { headers: { range: 'bytes=0-65535' } });
  expect(begun.headers.get('etag')).not.toBe(head.headers.get('etag'));
  const bytes = Buffer.from(await begun.arrayBuffer());
  expect([begun.status, bytes.length, bytes.toString('latin1', 0, 4)]).toEqual([206, 65536, 'QFI\xfb']);
  expect(bytes.readBigUInt64BE(24)).toBe(512n * 1024n * 1024n);
  expect(source.asked()).toBe(2);
  await source.close();
});
