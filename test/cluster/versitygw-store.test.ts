import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { realClock } from '../../deploy/local/clock.ts';
import { importImage } from '../../deploy/local/importer/import-image.ts';
import { regionOf } from '../../deploy/local/importer/s3-source.ts';
import type { ObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { qcow2Buffer } from '../../deploy/local/object-store/qcow2.ts';
import { seededBytes } from '../../deploy/local/object-store/seeded-bytes.ts';
import { presignQuery, signHeaders } from '../../deploy/local/object-store/sigv4.ts';
import { declareS3Answers } from '../proofs/contract/s3-answers.ts';
import { findVersitygw } from './versitygw.ts';
import { startVersitygwStore } from './versitygw-store.ts';

const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };
const strangers = { accessKeyId: 'stranger', secretKey: 'another-secret' };
const path = '/images/some folder/ubuntu.qcow2';
const size = 300_000;

const isThere = (await findVersitygw()) !== undefined;
if (!isThere) console.warn('skipped: an object store of versitygw needs versitygw on the PATH');

describe.skipIf(!isThere)('an object store of versitygw', () => {
  let store: ObjectStore;

  beforeEach(async () => {
    store = await startVersitygwStore({ keys: [keys], publicBuckets: ['public'] });
    await store.put('images', 'some folder/ubuntu.qcow2', { size, seed: 1 });
  });

  afterEach(() => store.close());

  /** Asks with these keys, or anonymously. */
  function get(
    name: string,
    { as, method = 'GET', range }: { as?: typeof keys; method?: string; range?: string } = {},
  ) {
    const url = new URL(encodeURI(name), store.url);
    const scope = { region: regionOf(url.host), service: 's3', timeMs: Date.now() };
    const signed = as ? signHeaders({ method, path: url.pathname, headers: { host: url.host } }, as, scope) : {};
    return fetch(url, { method, headers: { ...signed, ...(range ? { range } : {}) } });
  }

  const codeIn = async (response: Response) => [response.status, /<Code>(.*?)</.exec(await response.text())?.[1]];

  test('gives the bytes to who has the keys, and counts them', async () => {
    const heard: string[] = [];
    store.onBytes((name) => heard.push(name));
    const response = await get(path, { as: keys });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(seededBytes(1, 0, size));
    expect([store.bytesSent(path), store.requests(path), store.requests(path, 'GET')]).toEqual([size, 1, 1]);
    expect(store.sizeOf(path)).toBe(size);
    expect(new Set(heard)).toEqual(new Set([path]));
    expect(response.headers.get('server')).toMatch(/versity/i);
  });

  test('tells the size without the bytes', async () => {
    const response = await get(path, { as: keys, method: 'HEAD' });
    expect([response.status, response.headers.get('content-length')]).toEqual([200, String(size)]);
    expect(store.bytesSent(path)).toBe(0);
  });

  test('takes a signed URL', async () => {
    const url = new URL(encodeURI(path), store.url);
    const scope = { region: regionOf(url.host), service: 's3', timeMs: Date.now() };
    const query = presignQuery({ method: 'GET', path: url.pathname, headers: { host: url.host } }, keys, scope, 60);
    const response = await fetch(`${url}?${query}`);
    // A body that is left unread when the connection ends kills the process (nodejs/undici#5360).
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, size]);
  });

  test.each([
    ['an unknown key', strangers, 'InvalidAccessKeyId'],
    ['a wrong secret', { ...keys, secretKey: 'guessed' }, 'SignatureDoesNotMatch'],
    ['no key at all', undefined, 'AccessDenied'],
  ])('refuses %s with 403', async (_, as, code) => {
    expect(await codeIn(await get(path, as ? { as } : {}))).toEqual([403, code]);
    expect(store.bytesSent(path)).toBe(0);
  });

  test('has no object that it was not given, or that was removed', async () => {
    expect(await codeIn(await get('/images/missing', { as: keys }))).toEqual([404, 'NoSuchKey']);
    expect(await codeIn(await get('/nowhere/missing', { as: keys }))).toEqual([404, 'NoSuchBucket']);
    store.remove('images', 'some folder/ubuntu.qcow2');
    expect(await codeIn(await get(path, { as: keys }))).toEqual([404, 'NoSuchKey']);
    expect(store.sizeOf(path)).toBeUndefined();
  });

  test('lets anyone read a public bucket, and no other', async () => {
    await store.put('public', 'a', 'words');
    expect(await (await get('/public/a')).text()).toBe('words');
    const [status] = await codeIn(await get('/public/missing'));
    expect(status).toBeGreaterThanOrEqual(403);
    expect(await codeIn(await get(path))).toEqual([403, 'AccessDenied']);
  });

  test('gives a range of the bytes, and none beyond the end', async () => {
    const response = await get(path, { as: keys, range: 'bytes=1000-1999' });
    expect([response.status, response.headers.get('content-range')]).toEqual([206, `bytes 1000-1999/${size}`]);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(seededBytes(1, 1000, 2000));
    expect(store.bytesSent(path)).toBe(1000);
    expect(await codeIn(await get(path, { as: keys, range: `bytes=${size}-` }))).toEqual([416, 'InvalidRange']);
  });

  test('breaks off where a fault says, once', async () => {
    store.faults.push({ match: 'ubuntu', mode: 'cutAt', fraction: 0.5, times: 1 });
    await expect(get(path, { as: keys }).then((response) => response.arrayBuffer())).rejects.toThrow();
    expect(store.bytesSent(path)).toBe(size / 2);
    expect((await (await get(path, { as: keys })).arrayBuffer()).byteLength).toBe(size);
  });

  test('refuses with the status of a fault, and stalls where one says', async () => {
    store.faults.push({ match: 'ubuntu', mode: 'status', status: 503, times: 1 });
    expect(await codeIn(await get(path, { as: keys }))).toEqual([503, 'SlowDown']);
    store.faults.push({ match: 'ubuntu', mode: 'stall', fraction: 0.1 });
    const stalled = new Promise<void>((resolve) => {
      store.onBytes(() => {
        if (store.bytesSent(path) === size / 10) resolve();
      });
    });
    const response = await get(path, { as: keys });
    await stalled;
    const reader = response.body?.getReader();
    for (let left = size / 10; left > 0; ) left -= (await reader?.read())?.value?.length ?? left;
    const silence = sleep(100, 'silence');
    expect(await Promise.race([reader?.read(), silence])).toBe('silence');
    await reader?.cancel();
    expect(store.bytesSent(path)).toBe(size / 10);
  });

  test('sends no faster than its link', async () => {
    store.limitTo(1_000_000);
    const beganMs = performance.now();
    await (await get(path, { as: keys })).arrayBuffer();
    expect(performance.now() - beganMs).toBeGreaterThan(0.8 * (size / 1000));
  });

  test.each(['s3', 'http'] as const)('is what the importer downloads from with %s', async (sourceType) => {
    const content = qcow2Buffer({ virtualBytes: 16 * 1024 ** 2, dataBytes: 200_000, seed: 'x' });
    const bucket = sourceType === 's3' ? 'images' : 'public';
    await store.put(bucket, 'x.qcow2', content);
    const run = (credentials: typeof keys) =>
      importImage({
        sourceType,
        url: `${store.url}/${bucket}/x.qcow2`,
        ...(sourceType === 's3' ? { credentials } : {}),
        capacityBytes: 64 * 1024 ** 2,
        scratch: true,
        signal: AbortSignal.timeout(20_000),
        clock: realClock,
      });
    expect(await run(keys)).toMatchObject({ outcome: 'done', format: 'qcow2', virtualSizeBytes: 16 * 1024 ** 2 });
    if (sourceType === 'http') return;
    const { message } = (await run({ ...keys, secretKey: 'guessed' })) as { message?: string };
    expect(message).toMatch(/SignatureDoesNotMatch.*\n?\tstatus code: 403/);
  });
});

describe.skipIf(!isThere)('versitygw answers', () => declareS3Answers(startVersitygwStore));

test.skipIf(!isThere)('more than one pair of keys is refused', async () => {
  await expect(startVersitygwStore({ keys: [keys, strangers] })).rejects.toThrow(/^expected one pair of keys/);
});
