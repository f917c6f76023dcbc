import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { realClock } from '../clock.ts';
import { DataVolume, Secret } from '../controller/kinds.ts';
import type { Running } from '../controller/simulator.ts';
import { importImage } from '../importer/import-image.ts';
import { type ObjectStore, startObjectStore } from '../object-store/object-store.ts';
import { qcow2Buffer } from '../object-store/qcow2.ts';
import { startCdi } from './start-cdi.ts';
import { aDataVolume, type Recording, type TestCluster, testCluster } from './test-cluster.ts';

const keys = { accessKeyId: 'reader', secretKey: 'secret' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const mebibyte = 1024 ** 2;
const raw = Buffer.alloc(3 * mebibyte, 'lab');
const sha256 = createHash('sha256').update(raw).digest('hex');

const large = qcow2Buffer({ virtualBytes: 3000 * mebibyte, dataBytes: mebibyte, seed: 'lab' });

let store: ObjectStore;
let cluster: TestCluster;
let cdi: Running;
let dataVolumes: Recording<DataVolume>;

beforeAll(async () => {
  store = await startObjectStore({ keys: [keys], publicBuckets: ['public'] });
  await store.put('images', 'lab.img.gz', gzipSync(raw));
  await store.put('images', 'lab.qcow2', qcow2Buffer({ virtualBytes: 3 * mebibyte, dataBytes: mebibyte, seed: 'lab' }));
  await store.put('images', 'large.qcow2', large);
  await store.put('public', 'lab.img', raw);
});

beforeEach(async () => {
  store.faults.length = 0;
  cluster = await testCluster(realClock);
  dataVolumes = await cluster.record(DataVolume);
  const data = { accessKeyId: base64(keys.accessKeyId), secretKey: base64(keys.secretKey) };
  await cluster.kube.create(Secret, {
    metadata: { name: 'keys', namespace: 'default' },
    data,
  });
  const timings = { containerMs: 60, restartScale: 0.001, progressMs: 20 };
  cdi = startCdi({ kube: cluster.kube, clock: realClock, importImage, timings });
});

afterEach(async () => {
  await cdi.stop();
  await cluster.close();
});

afterAll(() => store.close());

const fromS3 = (key: string) =>
  cluster.kube.create(DataVolume, aDataVolume('lab', { s3: { url: `${store.url}/${key}`, secretRef: 'keys' } }));
const fromHttp = (checksum?: string) =>
  cluster.kube.create(
    DataVolume,
    aDataVolume('lab', { http: { url: `${store.url}/public/lab.img`, ...(checksum ? { checksum } : {}) } }),
  );

const running = (dataVolume: DataVolume) => dataVolume.status?.conditions.find(({ type }) => type === 'Running');
const succeeded = () => dataVolumes.until(({ status }) => status?.phase === 'Succeeded');
const failsWith = (message: RegExp) =>
  dataVolumes.until((dataVolume) => message.test(running(dataVolume)?.message ?? ''));
const seen = (what: (dataVolume: DataVolume) => unknown) =>
  new Set(dataVolumes.events.map(({ object }) => what(object)));

test('.img.gz from S3 streams into the volume: one download, no scratch space, no percentage', async () => {
  const before = store.bytesSent('images/lab.img.gz');
  await fromS3('images/lab.img.gz');
  await succeeded();
  expect(store.bytesSent('images/lab.img.gz') - before).toBe(gzipSync(raw).length);
  expect(seen(({ status }) => status?.progress)).toEqual(new Set([undefined, 'N/A', '100.0%']));
  expect(seen((dataVolume) => running(dataVolume)?.reason)).not.toContain('Scratch space required');
});

test('.qcow2 from S3 asks for scratch space and shows a percentage only while it is converted', async () => {
  await fromS3('images/lab.qcow2');
  await succeeded();
  expect(seen((dataVolume) => running(dataVolume)?.reason)).toContain('Scratch space required');
  const progress = [...seen(({ status }) => status?.progress)];
  expect(progress.some((text) => /^\d+\.\d\d%$/.test(String(text)))).toBe(true);
  expect(progress.at(-1)).toBe('100.0%');
});

test('an object that does not exist fails again and again, for next to no bytes', async () => {
  await fromS3('images/lab-404');
  const failing = await failsWith(
    /^Unable to connect to s3 data source: could not get s3 object: "images\/lab-404": NoSuchKey: /,
  );
  expect(running(failing)).toMatchObject({ status: 'False', reason: 'Error' });
  await dataVolumes.until(({ status }) => (status?.restartCount ?? 0) >= 2);
  expect(seen(({ status }) => status?.phase)).not.toContain('Failed');
});

test('a disk too small for its image costs a whole download each time', async () => {
  const before = store.bytesSent('images/large.qcow2');
  await fromS3('images/large.qcow2');
  await failsWith(/^DataVolume too small to contain image$/);
  await dataVolumes.until(({ status }) => (status?.restartCount ?? 0) >= 2);
  expect(store.bytesSent('images/large.qcow2') - before).toBeGreaterThanOrEqual(2 * large.length);
});

test('a wrong checksum is terminal, a right one is not noticed', async () => {
  await fromHttp(`sha256:${'0'.repeat(64)}`);
  await dataVolumes.until(({ status }) => status?.phase === 'Failed');
  const failing = dataVolumes.events.at(-1)?.object;
  expect(failing && running(failing)?.reason).toBe('ChecksumError');
  await cluster.kube.delete(DataVolume, { namespace: 'default', name: 'lab' });
  const again = aDataVolume('again', { http: { url: `${store.url}/public/lab.img`, checksum: `sha256:${sha256}` } });
  await cluster.kube.create(DataVolume, again);
  await dataVolumes.until(({ metadata, status }) => metadata.name === 'again' && status?.phase === 'Succeeded');
});
