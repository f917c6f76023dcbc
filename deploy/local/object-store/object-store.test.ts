import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { realClock } from '../clock.ts';
import { type ObjectStore, type ObjectStoreOptions, startObjectStore } from './object-store.ts';
import { seededBytes } from './seeded-bytes.ts';
import { presignQuery, signHeaders, unsignedPayload } from './sigv4.ts';

const keys = { accessKeyId: 'AKIDLAB', secretKey: 'lab-secret' };
const started: ObjectStore[] = [];

async function store(options: Partial<ObjectStoreOptions> = {}) {
  const one = await startObjectStore({ keys: [keys], publicBuckets: ['open'], ...options });
  started.push(one);
  return one;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.close()));
});

interface Signing {
  method?: string;
  body?: string;
  payloadHash?: string;
  headers?: Record<string, string>;
}

function signed(url: string, signing: Signing = {}) {
  const { pathname: path, host } = new URL(url);
  const method = signing.method ?? 'GET';
  const scope = { region: 'any', service: 's3', timeMs: Date.now() };
  const headers = signHeaders({ method, path, headers: { host } }, keys, scope, signing.payloadHash);
  return fetch(url, {
    method,
    headers: { ...headers, ...signing.headers },
    ...(signing.body === undefined ? {} : { body: signing.body }),
  });
}

/** Reads a body to where it ends or breaks, from outside of fetch's pool of connections. */
function drained(url: string, limit = Number.POSITIVE_INFINITY) {
  return new Promise<{ bytes: number; isWhole: boolean; hash: string }>((resolve, reject) => {
    const hash = createHash('sha256');
    let bytes = 0;
    const ask = httpRequest(url, { agent: false }, (answer) => {
      answer.on('error', () => {});
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        hash.update(chunk);
        if (bytes >= limit) ask.destroy();
      });
      answer.on('close', () => resolve({ bytes, isWhole: answer.complete, hash: hash.digest('hex') }));
    });
    ask.on('error', reject).end();
  });
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

// Which key may read what, and what of it: test/proofs/contract/s3-answers.ts, which a real server answers, too.
describe('who may read', () => {
  test.each([
    { name: 'a good signature', status: 200, signing: {} },
    { name: 'an unsigned payload', status: 200, signing: { payloadHash: unsignedPayload } },
    {
      name: 'a header that is no signature',
      status: 400,
      code: 'AuthorizationHeaderMalformed',
      signing: { headers: { authorization: 'AWS4-HMAC-SHA256 nonsense' } },
    },
    {
      name: 'a signature over another method',
      status: 403,
      code: 'SignatureDoesNotMatch',
      signing: { headers: { 'x-amz-content-sha256': 'other' } },
    },
  ])('answers $status to $name', async ({ status, code, signing }) => {
    const { url, put } = await store();
    await put('closed', 'a b/ü.img', 'content');
    const answer = await signed(`${url}/closed/a%20b/%C3%BC.img`, signing);
    expect(answer.status).toBe(status);
    const body = await answer.text();
    if (!code) return expect(body).toBe('content');
    expect(body).toContain(`<Code>${code}</Code>`);
    expect(body).toContain(`<RequestId>${answer.headers.get('x-amz-request-id')}</RequestId>`);
    expect(body).not.toContain(keys.secretKey);
  });

  test('wants to be told the hash of the body, as S3 does', async () => {
    const { url } = await store();
    const authorization =
      'AWS4-HMAC-SHA256 Credential=AKIDLAB/20260101/any/s3/aws4_request,SignedHeaders=host,Signature=0';
    const answer = await fetch(`${url}/closed/a`, { headers: { authorization } });
    expect(await answer.text()).toContain('Missing required header for this request: x-amz-content-sha256');
  });

  test('lets nobody write into a public bucket unsigned', async () => {
    const { url, put } = await store();
    await put('open', 'a', 'public');
    expect((await fetch(`${url}/open/a`, { method: 'PUT', body: 'x' })).status).toBe(403);
  });

  test('accepts a key pair as user name and password if configured', async () => {
    const { url, put } = await store({ basicAuthBuckets: ['mirror'] });
    await put('mirror', 'a', 'content');
    const as = (user: string) => fetch(`${url}/mirror/a`, { headers: { authorization: `Basic ${btoa(user)}` } });
    expect(await (await as('AKIDLAB:lab-secret')).text()).toBe('content');
    expect((await as('AKIDLAB:guess')).status).toBe(401);
    expect((await fetch(`${url}/mirror/a`)).headers.get('www-authenticate')).toMatch(/^Basic/);
  });

  test('takes a presigned URL until it expires', async () => {
    const { url, put } = await store();
    await put('closed', 'a', 'content');
    const at = (timeMs: number) => {
      const request = { method: 'GET', path: '/closed/a', headers: { host: new URL(url).host } };
      return `${url}/closed/a?${presignQuery(request, keys, { region: 'any', service: 's3', timeMs }, 60)}`;
    };
    expect(await (await fetch(at(Date.now()))).text()).toBe('content');
    expect((await fetch(at(Date.now() - 61_000))).status).toBe(403);
    expect((await fetch(`${at(Date.now())}0`)).status).toBe(403);
  });
});

describe('objects', () => {
  test('keeps what is PUT, if it is what was signed', async () => {
    const { url, put } = await store();
    await put('closed', 'a', 'x');
    const payloadHash = sha256(Buffer.from('body'));
    expect((await signed(`${url}/closed/b`, { method: 'PUT', body: 'body', payloadHash })).status).toBe(200);
    expect(await (await signed(`${url}/closed/b`)).text()).toBe('body');
    const forged = await signed(`${url}/closed/c`, { method: 'PUT', body: 'other', payloadHash });
    expect(await forged.text()).toContain('XAmzContentSHA256Mismatch');
    expect((await signed(`${url}/closed/c`)).status).toBe(404);
  });

  test('makes up large objects as they are read, and takes streams and files', async () => {
    const { url, put, bytesSent } = await store();
    const bytes = seededBytes('alma', 0, 3_000_001);
    await put('open', 'seeded', { size: bytes.length, seed: 'alma' });
    await put('open', 'streamed', Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]));
    await put('open', 'with head', { size: bytes.length, seed: 'alma', head: Buffer.from('QFI') });
    for (const key of ['seeded', 'streamed']) {
      expect(await drained(`${url}/open/${key}`)).toEqual({ bytes: 3_000_001, isWhole: true, hash: sha256(bytes) });
    }
    const withHead = sha256(Buffer.concat([Buffer.from('QFI'), bytes.subarray(3)]));
    expect((await drained(`${url}/open/with%20head`)).hash).toBe(withHead);
    expect(bytesSent(`${url}/open/with%20head`)).toBe(3_000_001);
  });

  test.each([
    { range: 'bytes=5-9', from: 5, to: 10 },
    { range: 'bytes=99995-', from: 99_995, to: 100_000 },
    { range: 'bytes=-3', from: 99_997, to: 100_000 },
    { range: 'bytes=70001-70040', from: 70_001, to: 70_041 },
  ])('answers $range with just that', async ({ range, from, to }) => {
    const { url, put } = await store();
    await put('open', 'a', { size: 100_000, seed: 1 });
    const answer = await fetch(`${url}/open/a`, { headers: { range } });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/100000`);
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(seededBytes(1, from, to));
    expect((await fetch(`${url}/open/a`, { headers: { range: 'bytes=100000-' } })).status).toBe(416);
  });
});

describe('traffic', () => {
  test('counts requests, and the bytes as they leave', async () => {
    const { url, put, bytesSent, requests, onBytes } = await store();
    await put('open', 'a', { size: 1_000_000, seed: 1 });
    let heard = 0;
    const end = onBytes((path, bytes) => {
      expect(path).toBe('/open/a');
      heard += bytes;
    });
    await drained(`${url}/open/a`);
    end();
    await fetch(`${url}/open/a`, { method: 'HEAD' });
    expect(heard).toBe(1_000_000);
    expect([requests('open/a'), requests('/open/a', 'GET'), requests('open/a', 'HEAD')]).toEqual([2, 1, 1]);
    expect(bytesSent('open/a')).toBe(1_000_000);
  });

  test('sends little more to a client that hangs up', async () => {
    const { url, put, bytesSent } = await store();
    await put('open', 'a', { size: 1_000_000_000, seed: 1 });
    const { bytes } = await drained(`${url}/open/a`, 1000);
    expect(bytesSent('open/a')).toBeGreaterThanOrEqual(bytes);
    expect(bytesSent('open/a')).toBeLessThan(1_000_000);
  });

  test('shares the link fairly among those who download at once', async () => {
    const { url, put, bytesSent, limitTo } = await store({ bytesPerSecond: 2_000_000 });
    const names = ['a', 'b', 'c'];
    for (const name of names) await put('open', name, { size: 50_000_000, seed: name });
    const startMs = Date.now();
    const running = names.map((name) => drained(`${url}/open/${name}`));
    await new Promise<void>((resolve) => realClock.after(600, resolve));
    const shares = names.map((name) => bytesSent(`open/${name}`));
    const perSecond = (shares.reduce((sum, share) => sum + share, 0) * 1000) / (Date.now() - startMs);
    expect(perSecond / 2_000_000).toBeLessThan(1.3);
    expect(Math.max(...shares) / Math.min(...shares)).toBeLessThan(1.5);
    limitTo(undefined);
    expect((await Promise.all(running)).map(({ bytes }) => bytes)).toEqual([50_000_000, 50_000_000, 50_000_000]);
  });
});

describe('faults', () => {
  test('cuts a connection at that share of the bytes as often as told, then heals', async () => {
    const { url, put, bytesSent, faults } = await store();
    await put('open', 'a.img', { size: 1_000_000, seed: 1 });
    faults.push({ match: /a\.img$/, mode: 'cutAt', fraction: 0.5, times: 2 });
    const downloads = [];
    for (let turn = 0; turn < 3; turn++) downloads.push(await drained(`${url}/open/a.img`));
    expect(downloads.map(({ bytes, isWhole }) => [bytes, isWhole])).toEqual([
      [500_000, false],
      [500_000, false],
      [1_000_000, true],
    ]);
    expect(bytesSent('open/a.img')).toBe(2_000_000);
  });

  test('answers with a status while the fault exists', async () => {
    const { url, put, faults } = await store();
    await put('open', 'a', 'x');
    faults.push({ match: '/open/', mode: 'status', status: 503, times: 1 });
    expect((await fetch(`${url}/open/a`, { method: 'HEAD' })).status).toBe(503);
    expect(await (await fetch(`${url}/open/a`)).text()).toContain('<Code>SlowDown</Code>');
    expect((await fetch(`${url}/open/a`)).status).toBe(200);
  });

  test('leaves a stalled client waiting', async () => {
    const { url, put, faults, bytesSent, onBytes } = await store();
    await put('open', 'a', { size: 1000, seed: 1 });
    faults.push({ match: '/open/a', mode: 'stall', fraction: 0.25 });
    const abort = new AbortController();
    const sent = new Promise<void>((resolve) => onBytes(() => resolve()));
    const answer = await fetch(`${url}/open/a`, { signal: abort.signal });
    await sent;
    const body = answer.arrayBuffer();
    const first = await Promise.race([
      body.catch(() => 'broken'),
      new Promise((resolve) => realClock.after(100, () => resolve('waiting'))),
    ]);
    expect(first).toBe('waiting');
    abort.abort();
    await expect(body).rejects.toThrow();
    expect(bytesSent('open/a')).toBe(250);
  });
});
