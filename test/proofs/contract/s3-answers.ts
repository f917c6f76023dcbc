import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { regionOf } from '../../../deploy/local/importer/s3-source.ts';
import type { ObjectStore, ObjectStoreOptions } from '../../../deploy/local/object-store/object-store.ts';
import { type KeyPair, signHeaders } from '../../../deploy/local/object-store/sigv4.ts';

const keys: KeyPair = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };

interface Asked {
  as?: KeyPair | undefined;
  method?: string;
  range?: string;
  region?: string;
  /** How far the clock of who asks is off. */
  lateMs?: number;
}

/** What is asked of the server, and what it answers: its status, then an error's code or what came of the content. */
const cases: readonly [what: string, path: string, asked: Asked, answer: [status: number, said?: string]][] = [
  ['the beginning of an object', '/images/a/b', { range: 'bytes=0-3' }, [206, 'cont']],
  ['more than there is', '/images/a/b', { range: 'bytes=4-65535' }, [206, 'ent']],
  ['a range that ends before it begins', '/images/a/b', { range: 'bytes=5-2' }, [200, 'content']],
  ['what is behind the end', '/images/a/b', { range: 'bytes=7-' }, [416, 'InvalidRange']],
  ['the beginning of an empty object', '/images/empty', { range: 'bytes=0-65535' }, [416, 'InvalidRange']],
  ['an empty object', '/images/empty', {}, [200, '']],
  ['an encoded slash', '/images/a%2Fb', {}, [200, 'content']],
  ['an object by its size', '/images/a/b', { method: 'HEAD' }, [200, '']],
  ['no object', '/images/none', {}, [404, 'NoSuchKey']],
  ['no object, by its size', '/images/none', { method: 'HEAD' }, [404, '']],
  ['what would be a folder', '/images/a', {}, [404, 'NoSuchKey']],
  ['no bucket', '/nowhere/none', {}, [404, 'NoSuchBucket']],
  ['no bucket, of nobody', '/nowhere/none', { as: undefined }, [404, 'NoSuchBucket']],
  ['a name that no bucket has', '/No_where/none', {}, [400, 'InvalidBucketName']],
  ['a key that no object has', `/images/${'k'.repeat(1025)}`, {}, [400, 'KeyTooLongError']],
  ['a wrong secret', '/images/a/b', { as: { ...keys, secretKey: 'other' } }, [403, 'SignatureDoesNotMatch']],
  ['an unknown key', '/images/a/b', { as: { ...keys, accessKeyId: 'other' } }, [403, 'InvalidAccessKeyId']],
  ['an object, of nobody', '/images/a/b', { as: undefined }, [403, 'AccessDenied']],
  ['no object, of nobody', '/images/none', { as: undefined }, [403, 'AccessDenied']],
  ['an object of everybody', '/public/a', { as: undefined }, [200, 'content']],
  ['the list of everybody’s objects', '/public/', { as: undefined }, [403, 'AccessDenied']],
  ['another region', '/images/a/b', { region: 'eu-west-1' }, [400, 'AuthorizationHeaderMalformed']],
  ['something an hour ago', '/images/a/b', { lateMs: 3_600_000 }, [403, 'RequestTimeTooSkewed']],
];

/** A test for each case: our own object store and a real S3 server give the same answers. */
export function declareS3Answers(
  startStore: (options: Pick<ObjectStoreOptions, 'keys' | 'publicBuckets' | 'region'>) => Promise<ObjectStore>,
): void {
  const region = regionOf('127.0.0.1');
  let store: ObjectStore;
  beforeAll(async () => {
    store = await startStore({ keys: [keys], publicBuckets: ['public'], region });
    await store.put('images', 'a/b', 'content');
    await store.put('images', 'empty', '');
    await store.put('public', 'a', 'content');
  });
  afterAll(() => store.close());

  test.each(cases)('asked for %s', async (_, path, asked, [status, said = '']) => {
    const answer = await ask(store.url, path, { as: keys, region, ...asked });
    expect([answer.status, answer.said]).toEqual([status, said]);
  });
}

/** Not by fetch, which changes paths. */
function ask(url: string, path: string, { as, method = 'GET', range, region = '', lateMs = 0 }: Asked) {
  const { host, hostname, port } = new URL(url);
  const headers = { host, ...(range === undefined ? {} : { range }) };
  const scope = { region, service: 's3', timeMs: Date.now() - lateMs };
  const signed = as ? signHeaders({ method, path, headers }, as, scope) : {};
  return new Promise<{ status: number; said: string }>((resolve, reject) => {
    const sent = request({ host: hostname, port, method, path, headers: { ...headers, ...signed }, agent: false });
    sent.once('error', reject).once('response', async (answer) => {
      const text = Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)).toString();
      resolve({ status: answer.statusCode ?? 0, said: /<Code>(.*?)</.exec(text)?.[1] ?? text });
    });
    sent.end();
  });
}
