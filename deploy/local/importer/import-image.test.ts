import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { realClock, steppedClock } from '../clock.ts';
import { type ObjectStore, type ObjectStoreOptions, startObjectStore } from '../object-store/object-store.ts';
import { qcow2Buffer } from '../object-store/qcow2.ts';
import { seededBytes } from '../object-store/seeded-bytes.ts';
import type { Content } from '../object-store/stored-object.ts';
import { type ImportRequest, importImage } from './import-image.ts';

const mebi = 1024 * 1024;
const credentials = { accessKeyId: 'AKIDLAB', secretKey: 'lab-secret' };
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function storeWith(content: Content, options: Partial<ObjectStoreOptions> = {}): Promise<ObjectStore> {
  const store = await startObjectStore({ keys: [credentials], publicBuckets: ['open'], ...options });
  closers.push(store.close);
  await store.put('images', 'a.img', content);
  await store.put('open', 'a.img', content);
  return store;
}

const fromS3 = ({ url }: { url: string }, more: Partial<ImportRequest> = {}) => fromAny(`${url}/images/a.img`, more);

const fromHttp = ({ url }: { url: string }, more: Partial<ImportRequest> = {}) =>
  importImage({ ...common(), sourceType: 'http', url: `${url}/open/a.img`, ...more });

const fromAny = (url: string, more: Partial<ImportRequest> = {}) =>
  importImage({ ...common(), sourceType: 's3', url, credentials, ...more });

const common = () => ({
  capacityBytes: 16 * mebi,
  scratch: true,
  signal: new AbortController().signal,
  clock: realClock,
});

const raw = seededBytes('raw', 0, 3 * mebi);
const qcow2 = qcow2Buffer({ virtualBytes: 8 * mebi, dataBytes: mebi, seed: 'q' });
const sha256 = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

describe('formats', () => {
  const header = (change: (head: Buffer) => void) => {
    const bytes = Buffer.alloc(64 * 1024);
    change(bytes);
    return bytes;
  };
  const vmdk = header((head) => {
    head.write('KDMV');
    head.writeUInt32LE(1, 4);
    head.writeBigUInt64LE(8192n, 12);
  });
  const vdi = header((head) => {
    head.writeUInt32LE(0xbeda107f, 0x40);
    head.writeUInt32LE(0x10001, 0x44);
    head.writeBigUInt64LE(BigInt(4 * mebi), 0x170);
  });
  const vhd = header((head) => {
    head.write('conectix');
    head.writeBigUInt64BE(BigInt(4 * mebi), 48);
  });
  const page = Buffer.from(`<!DOCTYPE html>${'<p>Not found</p>'.repeat(50)}`);

  test.each([
    { name: 'raw', content: raw, format: 'raw', virtualSizeBytes: 3 * mebi, scratch: false },
    {
      name: 'raw.gz',
      content: gzipSync(raw),
      format: 'raw',
      compression: 'gz',
      virtualSizeBytes: 3 * mebi,
      scratch: false,
    },
    {
      name: 'raw.zst',
      content: zstdCompressSync(raw),
      format: 'raw',
      compression: 'zst',
      virtualSizeBytes: 3 * mebi,
      scratch: false,
    },
    { name: 'a web page', content: page, format: 'raw', virtualSizeBytes: page.length, scratch: false },
    { name: 'qcow2', content: qcow2, format: 'qcow2', virtualSizeBytes: 8 * mebi, scratch: true },
    {
      name: 'qcow2.gz',
      content: gzipSync(qcow2),
      format: 'qcow2',
      compression: 'gz',
      virtualSizeBytes: 8 * mebi,
      scratch: true,
    },
    {
      name: 'qcow2.gz.zst',
      content: zstdCompressSync(gzipSync(qcow2)),
      format: 'qcow2',
      compression: 'zst',
      virtualSizeBytes: 8 * mebi,
      scratch: true,
    },
    { name: 'vmdk', content: vmdk, format: 'vmdk', virtualSizeBytes: 4 * mebi, scratch: true },
    { name: 'vdi', content: vdi, format: 'vdi', virtualSizeBytes: 4 * mebi, scratch: true },
    { name: 'vhd', content: vhd, format: 'vhd', virtualSizeBytes: 4 * mebi, scratch: true },
  ])(
    'imports $name from S3, and counts the bytes as the store does',
    async ({ name: _, content, scratch, ...expected }) => {
      const store = await storeWith(content);
      const result = await fromS3(store, { scratch });
      expect(result).toEqual({ outcome: 'done', ...expected, bytes: content.length, digest: sha256(content) });
      expect(store.bytesSent('images/a.img')).toBe(content.length);
      expect([store.requests('images/a.img', 'GET'), store.requests('images/a.img')]).toEqual([1, 1]);
    },
  );

  test.each(['qcow2', 'vdi', 'vhd', 'vmdk'])(
    'asks for scratch space for %s as soon as it has seen the header',
    async (format) => {
      const head = { qcow2, vdi, vhd, vmdk }[format] ?? raw;
      const store = await storeWith({ size: 1000 * mebi, seed: 1, head });
      expect(await fromS3(store, { scratch: false })).toEqual({ outcome: 'scratch-required', format });
      expect(store.bytesSent('images/a.img')).toBeLessThan(mebi);
    },
  );

  test('asks for scratch space for a qcow2 inside of gz', async () => {
    const store = await storeWith(gzipSync(qcow2));
    expect(await fromS3(store, { scratch: false })).toEqual({ outcome: 'scratch-required', format: 'qcow2' });
  });

  test('asks for scratch space for anything from a web server, as CDI 1.66 does', async () => {
    const store = await storeWith({ size: 1000 * mebi, seed: 1 });
    expect(await fromHttp(store, { scratch: false })).toEqual({ outcome: 'scratch-required', format: 'raw' });
  });
});

// What each failure of a source says is compared with the recordings of a real importer: test/proofs/recordings.
describe('S3', () => {
  test('needs a key pair, though the bucket is public', async () => {
    const store = await storeWith(raw);
    expect(await fromAny(`${store.url}/open/a.img`, { credentials: { accessKeyId: '', secretKey: '' } })).toEqual({
      outcome: 'failed',
      reason: 'Error',
      message: expect.stringMatching(/"open\/a.img": EmptyStaticCreds: static credentials are empty$/),
      bytes: 0,
    });
  });

  test.each(['/open//a.img', '/open%2Fa.img', '/closed/..%2Fopen/a.img'])(
    'cleans the path %s, as the SDK does',
    async (path) => {
      const store = await storeWith(raw);
      expect(await fromAny(`${store.url}${path}`)).toMatchObject({ outcome: 'done' });
      expect(store.requests('open/a.img')).toBe(1);
    },
  );

  test('takes the first segment of the path for the bucket, so that a virtual-hosted URL fails', async () => {
    const store = await storeWith(raw);
    expect(await fromAny(`${store.url}/a.img`)).toMatchObject({ message: expect.stringContaining('InvalidParameter') });
  });

  test('retries a server in trouble before there is a body, three times', async () => {
    const store = await storeWith(raw);
    store.faults.push({ match: 'a.img', mode: 'status', status: 500, times: 3 });
    expect(await fromS3(store)).toMatchObject({ outcome: 'done' });
    store.faults.push({ match: 'a.img', mode: 'status', status: 500, times: 4 });
    expect(await fromS3(store)).toMatchObject({
      outcome: 'failed',
      message: expect.stringMatching(/InternalError: .*status code: 500/s),
    });
    expect(store.requests('images/a.img')).toBe(8);
  });

  test('never learns the total', async () => {
    const totals = new Set<number | undefined>();
    await fromS3(await storeWith(raw), { onBytes: (_, total) => totals.add(total) });
    expect([...totals]).toEqual([undefined]);
  });

  test('follows no redirect', async () => {
    const store = await storeWith(raw);
    const url = await server((_, response) => response.writeHead(302, { location: `${store.url}/open/a.img` }).end());
    expect(await fromAny(`${url}/b/k`)).toMatchObject({
      message: expect.stringContaining('Found: Found\n\tstatus code: 302'),
    });
    expect(store.requests('open/a.img')).toBe(0);
  });
});

async function server(listener: RequestListener) {
  const one = createServer(listener);
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  closers.push(
    () => one.close(),
    () => one.closeAllConnections(),
  );
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
}

describe('HTTP', () => {
  test('asks for the length first and tells it from the first byte on', async () => {
    const store = await storeWith(raw);
    const heard: (number | undefined)[] = [];
    const result = await fromHttp(store, { onBytes: (received, total) => heard.push(received, total) });
    expect(result).toMatchObject({ outcome: 'done', format: 'raw', bytes: raw.length, digest: sha256(raw) });
    expect(heard.slice(-2)).toEqual([raw.length, raw.length]);
    expect([store.requests('open/a.img', 'HEAD'), store.requests('open/a.img', 'GET')]).toEqual([1, 1]);
    expect(store.bytesSent('open/a.img')).toBe(raw.length);
  });

  test.each([
    [404, 'Unable to connect to http data source: expected status code 200, got 404. Status: 404 Not Found'],
    [503, 'Unable to connect to http data source: expected status code 200, got 503. Status: 503 Service Unavailable'],
  ])('says that it got %i', async (status, message) => {
    const store = await storeWith(raw, { faults: [{ match: 'a.img', mode: 'status', status }] });
    expect(await fromHttp(store)).toEqual({ outcome: 'failed', reason: 'Error', message, bytes: 0 });
    expect(store.requests('open/a.img', 'GET')).toBe(1);
  });

  test('sends the key pair as user name and password', async () => {
    const store = await storeWith(raw, { basicAuthBuckets: ['images'] });
    const url = `${store.url}/images/a.img`;
    expect(await fromHttp(store, { url, credentials })).toMatchObject({ outcome: 'done' });
    expect(await fromHttp(store, { url })).toMatchObject({ message: expect.stringContaining('got 401') });
  });

  test('follows a redirect, but takes the password to no other server', async () => {
    const seen: (string | undefined)[] = [];
    const other = await server((request, response) => {
      seen.push(request.headers.authorization);
      response.end(raw);
    });
    const url = await server((_, response) => response.writeHead(302, { location: `${other}/x` }).end());
    expect(await fromHttp({ url }, { credentials })).toMatchObject({ outcome: 'done', bytes: raw.length });
    expect(seen).toEqual([undefined, undefined]);
  });

  test('continues without a length when HEAD is refused', async () => {
    const url = await server((request, response) => {
      if (request.method === 'HEAD') response.writeHead(405).end();
      else response.end(raw);
    });
    expect(await fromHttp({ url })).toMatchObject({ outcome: 'done', bytes: raw.length });
  });

  test('leaves user, password and query out of what it says', async () => {
    const result = await fromAny('http://user:lab-secret@127.0.0.1:9/b?X-Amz-Signature=lab-secret', {
      sourceType: 'http',
    });
    expect(result).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('Get "http://127.0.0.1:9/b": dial tcp'),
    });
    expect(JSON.stringify(result)).not.toContain('lab-secret');
  });

  test('gives up after ten silent minutes, where S3 waits for ever', async () => {
    const clock = steppedClock();
    const store = await storeWith(raw, { clock, faults: [{ match: 'a.img', mode: 'stall', fraction: 0.5 }] });
    const abort = new AbortController();
    const stalled = (received: number, done: () => void) => received === raw.length / 2 && done();
    let http: Promise<unknown> = Promise.resolve();
    await new Promise<void>((half) => {
      http = fromHttp(store, { clock, onBytes: (received) => stalled(received, half) });
    });
    let s3: Promise<unknown> = Promise.resolve();
    await new Promise<void>((half) => {
      s3 = fromS3(store, { clock, signal: abort.signal, onBytes: (received) => stalled(received, half) });
    });
    await new Promise((resolve) => setImmediate(resolve));
    clock.step(11 * 60_000);
    expect(await http).toMatchObject({ outcome: 'failed', message: expect.stringContaining('context canceled') });
    clock.step(24 * 3600_000);
    abort.abort(new Error('enough'));
    await expect(s3).rejects.toThrow('enough');
  });
});

test.each(['not a url', 'ftp://host/a', 'http://127.0.0.1:9/b/%zz', 'http://127.0.0.1:9/b/%ff'])(
  'sends no request for "%s"',
  async (url) => {
    for (const sourceType of ['s3', 'http'] as const) {
      const message = expect.stringContaining(
        `Unable to connect to ${sourceType} data source: unable to parse endpoint`,
      );
      expect(await fromAny(url, { sourceType })).toEqual({ outcome: 'failed', reason: 'Error', message, bytes: 0 });
    }
  },
);

describe('checksum', () => {
  const gz = gzipSync(raw);

  test.each(['md5', 'sha1', 'sha256', 'sha512'])('%s is held against what was downloaded', async (algorithm) => {
    const store = await storeWith(gz);
    const good = `${algorithm}:${createHash(algorithm).update(gz).digest('hex')}`;
    expect(await fromHttp(store, { checksum: good.toUpperCase() })).toMatchObject({ outcome: 'done' });
    const bad = `${algorithm}:${createHash(algorithm).update('other').digest('hex')}`;
    const message = `Unable to process data: Unable to transfer source data to scratch space: checksum validation failed: checksum mismatch: expected ${bad}, calculated ${good}`;
    expect(await fromHttp(store, { checksum: bad })).toMatchObject({
      outcome: 'failed',
      reason: 'ChecksumError',
      message,
    });
  });

  test('does not count for S3, which has none in CDI', async () => {
    expect(await fromS3(await storeWith(raw), { checksum: 'sha256:00' })).toMatchObject({ outcome: 'done' });
  });
});

describe('a connection that is cut', () => {
  test('at half loses that half, twice, and then heals', async () => {
    const store = await storeWith(raw);
    store.faults.push({ match: 'a.img', mode: 'cutAt', fraction: 0.5, times: 2 });
    const cut = {
      outcome: 'failed',
      reason: 'ImagePullFailed',
      message:
        'Unable to process data: Unable to transfer source data to target file: failed to pull image: unexpected EOF',
      bytes: raw.length / 2,
    };
    expect(await fromS3(store)).toEqual(cut);
    expect(await fromS3(store)).toEqual(cut);
    expect(store.bytesSent('images/a.img')).toBe(raw.length);
    expect(await fromS3(store)).toMatchObject({ outcome: 'done' });
    expect(store.bytesSent('images/a.img')).toBe(2 * raw.length);
  });

  test.each([
    {
      name: 'in a qcow2',
      content: qcow2,
      fraction: 0.5,
      message: /scratch space: failed to pull image: unexpected EOF/,
    },
    {
      name: 'in a gz',
      content: gzipSync(raw),
      fraction: 0.5,
      message: /target file: failed to pull image: unexpected EOF/,
    },
    {
      name: 'in the header',
      content: raw,
      fraction: 0.0001,
      message: /could not process image header: unexpected EOF/,
    },
    {
      name: 'before the first byte',
      content: raw,
      fraction: 0,
      message: /could not process image header: unexpected EOF/,
    },
  ])('$name is an unexpected EOF', async ({ content, fraction, message }) => {
    const store = await storeWith(content, { faults: [{ match: 'a.img', mode: 'cutAt', fraction }] });
    const bytes = Math.floor(content.length * fraction);
    expect(await fromS3(store)).toMatchObject({ outcome: 'failed', message: expect.stringMatching(message), bytes });
    expect(store.bytesSent('images/a.img')).toBe(bytes);
  });
});

describe('a volume that is too small', () => {
  const message = expect.stringMatching(/is larger than the reported available storage|no space left on device$/);

  test('shows for a raw image from S3 when it is full', async () => {
    const store = await storeWith({ size: 1000 * mebi, seed: 1 });
    const result = await fromS3(store, { capacityBytes: mebi });
    expect(result).toMatchObject({ outcome: 'failed', reason: 'Error', message });
    expect(store.bytesSent('images/a.img')).toBeLessThan(3 * mebi);
  });

  test('shows for a compressed one by what is inside', async () => {
    const store = await storeWith(gzipSync(Buffer.alloc(20 * mebi)));
    expect(await fromS3(store)).toMatchObject({ outcome: 'failed', message });
  });

  test('shows for a raw image over HTTP when the scratch space is full', async () => {
    const store = await storeWith({ size: 1000 * mebi, seed: 1 });
    expect(await fromHttp(store, { capacityBytes: 4 * mebi })).toMatchObject({ outcome: 'failed', message });
    expect(store.bytesSent('open/a.img')).toBeLessThan(10 * mebi);
  });

  test('shows for a qcow2 over HTTP once it is converted', async () => {
    const store = await storeWith(qcow2);
    expect(await fromHttp(store, { capacityBytes: 4 * mebi })).toEqual({
      outcome: 'failed',
      reason: 'Error',
      message: expect.stringMatching(
        /^Unable to process data: Unable to convert source data to target format: virtual image/,
      ),
      bytes: qcow2.length,
    });
  });
});

describe('a corrupt image', () => {
  const change = (from: Buffer, at: number, value: number) => {
    const bytes = Buffer.from(from);
    bytes.fill(value, at, at + 4);
    return bytes;
  };
  test.each([
    {
      name: 'an unknown version',
      content: change(qcow2, 4, 9),
      message: /Could not open '\/scratch\/tmpimage': Unsupported qcow2 version/,
    },
  ])('with $name shows after the full download', async ({ content, message }) => {
    const store = await storeWith(content);
    const result = await fromS3(store);
    expect(result).toMatchObject({
      outcome: 'failed',
      reason: 'Error',
      bytes: content.length,
      message: expect.stringMatching(message),
    });
    expect(result).toMatchObject({ message: expect.stringMatching(/^Unable to process data: Unable to convert/) });
  });

  test('in a gz shows by its checksum', async () => {
    const gz = gzipSync(raw);
    gz.fill(7, gz.length - 8, gz.length - 4);
    expect(await fromS3(await storeWith(gz))).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('gzip: invalid checksum'),
    });
  });
});

describe('abort', () => {
  test('stops a download at once and has counted what came', async () => {
    const store = await storeWith({ size: 10_000 * mebi, seed: 1 }, { bytesPerSecond: 20 * mebi });
    const abort = new AbortController();
    let received = 0;
    const importing = fromS3(store, {
      capacityBytes: 20_000 * mebi,
      signal: abort.signal,
      onBytes: (bytes) => {
        received = bytes;
        if (bytes >= mebi) abort.abort(new Error('deleted'));
      },
    });
    await expect(importing).rejects.toThrow('deleted');
    expect(received).toBeLessThan(2 * mebi);
    expect(store.bytesSent('images/a.img')).toBeGreaterThanOrEqual(received);
    expect(store.bytesSent('images/a.img') - received).toBeLessThan(2 * mebi);
  });

  test('before the beginning sends no request', async () => {
    const store = await storeWith(raw);
    await expect(fromS3(store, { signal: AbortSignal.abort(new Error('never mind')) })).rejects.toThrow('never mind');
    expect(store.requests('images/a.img')).toBe(0);
  });

  test('ends a conversion', async () => {
    const abort = new AbortController();
    const onConversion = () => abort.abort(new Error('deleted'));
    const store = await storeWith(qcow2);
    await expect(fromS3(store, { signal: abort.signal, onConversion, conversionMs: 1000 })).rejects.toThrow('deleted');
  });
});

test('converts in steps up to 100 percent, after the download', async () => {
  const store = await storeWith(qcow2);
  const percents: number[] = [];
  let received = 0;
  await fromS3(store, {
    conversionMs: 20,
    onBytes: (bytes) => {
      received = bytes;
    },
    onConversion: (percent) => {
      expect(received).toBe(qcow2.length);
      percents.push(percent);
    },
  });
  expect(percents).toEqual([...percents].sort((a, b) => a - b));
  expect(percents.at(-1)).toBe(100);
});

const has = (program: string) => spawnSync(program, ['--version']).status === 0;
if (!has('xz')) console.warn('xz is not on the PATH: images inside of xz are not imported');
if (!has('qemu-img')) console.warn('qemu-img is not on the PATH: its vmdk, vdi, vhd and vhdx are not imported');

test.skipIf(!has('xz'))('imports a qcow2 inside of xz, and fails when that is cut short', async () => {
  const xz = execFileSync('xz', ['-0', '--stdout'], { input: qcow2, maxBuffer: 64 * mebi });
  expect(await fromS3(await storeWith(xz))).toMatchObject({
    outcome: 'done',
    format: 'qcow2',
    compression: 'xz',
    bytes: xz.length,
  });
  expect(await fromS3(await storeWith(xz.subarray(0, -100)))).toMatchObject({ outcome: 'failed' });
  expect(await fromS3(await storeWith(xz), { scratch: false })).toMatchObject({ outcome: 'scratch-required' });
});

test.skipIf(!has('qemu-img')).each(['vmdk', 'vdi', 'vpc', 'vhdx'])(
  'reads the size of a %s that qemu-img made',
  async (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'import-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'disk');
    execFileSync('qemu-img', [
      'create',
      '-q',
      '-f',
      format,
      ...(format === 'vpc' ? ['-o', 'force_size=on'] : []),
      file,
      '16M',
    ]);
    const result = await fromS3(await storeWith(readFileSync(file)));
    expect(result).toMatchObject({
      outcome: 'done',
      format: format === 'vpc' ? 'vhd' : format,
      virtualSizeBytes: 16 * mebi,
    });
  },
);
