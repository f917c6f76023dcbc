import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { encodePath, type KeyPair, signHeaders, unsignedPayload } from '../../deploy/local/object-store/sigv4.ts';
import type { StoredObject } from '../../deploy/local/object-store/stored-object.ts';

/** What the owner of an S3 server does with it. */
export interface BucketOwner {
  createBucket(bucket: string): Promise<void>;
  /** Lets anyone read the objects of a bucket. */
  publish(bucket: string): Promise<void>;
  putObject(bucket: string, key: string, object: StoredObject): Promise<void>;
}

/** The path of an object on the request line. */
const pathOf = (bucket: string, key: string) => encodePath(`/${bucket}/${key}`);

/** Signs what the owner of the server at this port asks of it; every refusal is thrown in the server's words. */
export function bucketOwner(port: number, keys: KeyPair, region: string): BucketOwner {
  const put = (path: string, query: string, content: Content) => send({ port, keys, region }, path, query, content);
  return {
    createBucket: (bucket) => put(`/${bucket}`, '', textContent('')),
    publish: (bucket) => put(`/${bucket}`, 'policy=', textContent(JSON.stringify(readableByAnyone(bucket)))),
    putObject: (bucket, key, object) =>
      put(pathOf(bucket, key), '', {
        bytes: object.size,
        hash: unsignedPayload,
        chunks: () => object.read(0, object.size),
      }),
  };
}

const readableByAnyone = (bucket: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: '*', Action: ['s3:GetObject'], Resource: [`arn:aws:s3:::${bucket}/*`] }],
});

interface Content {
  bytes: number;
  hash: string;
  chunks(): AsyncIterable<Buffer> | Iterable<Buffer>;
}

const textContent = (text: string): Content => {
  const bytes = Buffer.from(text);
  return {
    bytes: bytes.length,
    hash: createHash('sha256').update(bytes).digest('hex'),
    chunks: () => (bytes.length > 0 ? [bytes] : []),
  };
};

async function send(
  { port, keys, region }: { port: number; keys: KeyPair; region: string },
  path: string,
  query: string,
  { bytes, hash, chunks }: Content,
): Promise<void> {
  const headers = { host: `127.0.0.1:${port}` };
  const signed = signHeaders(
    { method: 'PUT', path, query, headers },
    keys,
    { region, service: 's3', timeMs: Date.now() },
    hash,
  );
  const asked = request({
    host: '127.0.0.1',
    port,
    method: 'PUT',
    path: query ? `${path}?${query}` : path,
    headers: { ...headers, ...signed, 'content-length': bytes },
    agent: false,
  });
  const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', async (response) => {
      const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
      resolve({ status: response.statusCode ?? 0, text });
    });
  });
  const [{ status, text }] = await Promise.all([answered, pipeline(Readable.from(chunks()), asked)]);
  if (status >= 300) throw new Error(`expected the server to take PUT ${path}, found ${status}: ${text}`);
}
