import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type Access, verifyBasic, verifySignature } from './authorize.ts';
import type { Bandwidth } from './bandwidth.ts';
import { byteRange } from './byte-range.ts';
import type { FaultTable } from './faults.ts';
import { errorXml, S3Error, s3Errors } from './s3-error.ts';
import { sendBody } from './send-body.ts';
import type { SignableRequest } from './sigv4.ts';
import type { Content, StoredObject } from './stored-object.ts';
import type { Traffic } from './traffic.ts';

/** What an answer is made from. */
export interface Shelves {
  buckets: Map<string, Map<string, StoredObject>>;
  put(bucket: string, key: string, content: Content): Promise<void>;
  access: Access;
  publicBuckets: readonly string[];
  basicAuthBuckets: readonly string[];
  faults: FaultTable;
  traffic: Traffic;
  bandwidth: Bandwidth;
  nowMs(): number;
}

interface Asked extends SignableRequest {
  path: string;
  query: string;
  bucket: string;
  key: string;
  /** `/bucket/key`, with nothing escaped. */
  name: string;
}

/** Answers one request the way S3 does. */
export async function answer(request: IncomingMessage, response: ServerResponse, shelves: Shelves): Promise<void> {
  response.setHeader('x-amz-request-id', randomBytes(8).toString('hex').toUpperCase());
  response.setHeader('x-amz-id-2', randomBytes(24).toString('base64'));
  try {
    const asked = read(request);
    shelves.traffic.countRequest(asked.name, asked.method);
    await route(asked, request, response, shelves);
  } catch (error) {
    refuse(request, response, error instanceof S3Error ? error : s3Errors.ofStatus(500));
  }
}

function read(request: IncomingMessage): Asked {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(',') : (value ?? ''),
    ]),
  );
  try {
    const name = decodeURIComponent(path);
    const [, bucket = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(name) ?? [];
    return { method: request.method ?? 'GET', path, query, headers, bucket, key, name };
  } catch {
    throw s3Errors.invalidUri();
  }
}

async function route(asked: Asked, request: IncomingMessage, response: ServerResponse, shelves: Shelves) {
  const isDownload = asked.method === 'GET' && asked.key !== '';
  const fault = isDownload ? shelves.faults.meet(asked.name) : shelves.faults.see(asked.name);
  if (fault?.mode === 'status') throw s3Errors.ofStatus(fault.status);
  if (asked.bucket && !isBucketName(asked.bucket)) throw s3Errors.invalidBucketName();
  if (Buffer.byteLength(asked.key) > longestKey) throw s3Errors.keyTooLong();
  authorize(asked, shelves);
  if (asked.method === 'PUT') return receive(asked, request, response, shelves);
  if (asked.method !== 'GET' && asked.method !== 'HEAD') throw s3Errors.methodNotAllowed();
  const objects = shelves.buckets.get(asked.bucket);
  if (!objects) throw s3Errors.noSuchBucket();
  if (!asked.key) throw s3Errors.methodNotAllowed();
  const object = objects.get(asked.key);
  if (!object) throw s3Errors.noSuchKey();
  const { start, end } = writeHead(asked, response, object);
  if (asked.method === 'HEAD') return void response.end();
  const onSent = (bytes: number) => shelves.traffic.countBytes(asked.name, bytes);
  await sendBody(response, { bytes: end - start, chunks: object.read(start, end), fault, onSent }, shelves.bandwidth);
}

const isBucketName = (name: string) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name);
const longestKey = 1024;

function authorize(asked: Asked, shelves: Shelves) {
  const { authorization = '' } = asked.headers;
  const isSigned = authorization.startsWith('AWS4') || asked.query.includes('X-Amz-Signature=');
  const reads = asked.key !== '' && (asked.method === 'GET' || asked.method === 'HEAD');
  if (!isSigned && reads && shelves.publicBuckets.includes(asked.bucket)) return;
  if (!isSigned && reads && shelves.basicAuthBuckets.includes(asked.bucket))
    return verifyBasic(authorization, shelves.access);
  // Which buckets exist, anyone may know.
  if (!isSigned) throw shelves.buckets.has(asked.bucket) ? s3Errors.accessDenied() : s3Errors.noSuchBucket();
  verifySignature(asked, shelves.access, shelves.nowMs());
}

function writeHead({ headers }: Asked, response: ServerResponse, object: StoredObject) {
  const range = byteRange(headers.range, object.size);
  const { start, end } = range ?? { start: 0, end: object.size };
  response.writeHead(range ? 206 : 200, {
    'content-length': end - start,
    'content-type': 'binary/octet-stream',
    'accept-ranges': 'bytes',
    etag: `"${object.etag}"`,
    'last-modified': new Date(object.lastModifiedMs).toUTCString(),
    ...(range ? { 'content-range': `bytes ${start}-${end - 1}/${object.size}` } : {}),
  });
  return { start, end };
}

async function receive(asked: Asked, request: IncomingMessage, response: ServerResponse, shelves: Shelves) {
  if (!shelves.buckets.has(asked.bucket)) throw s3Errors.noSuchBucket();
  if (!asked.key) throw s3Errors.methodNotAllowed();
  const expected = asked.headers['x-amz-content-sha256'] ?? '';
  if (expected.startsWith('STREAMING-')) throw s3Errors.notImplemented(expected);
  await shelves.put(asked.bucket, asked.key, Readable.from(checked(request, expected)));
  response.end();
}

async function* checked(body: AsyncIterable<Buffer>, expectedHash: string) {
  const hash = createHash('sha256');
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
  if (/^[0-9a-f]{64}$/.test(expectedHash) && hash.digest('hex') !== expectedHash) throw s3Errors.bodyHashDiffers();
}

function refuse(request: IncomingMessage, response: ServerResponse, error: S3Error) {
  if (response.headersSent) return void response.destroy();
  const requestId = String(response.getHeader('x-amz-request-id'));
  const xml = errorXml(error, request.url?.split('?')[0] ?? '/', requestId, String(response.getHeader('x-amz-id-2')));
  const challenge = error.status === 401 ? { 'www-authenticate': 'Basic realm="object store"' } : {};
  response.writeHead(error.status, { 'content-type': 'application/xml', connection: 'close', ...challenge });
  response.end(request.method === 'HEAD' ? undefined : xml);
}
