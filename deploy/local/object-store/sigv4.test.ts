import { describe, expect, test } from 'vitest';
import { parseAmzDate, presignQuery, signatureOf, signHeaders } from './sigv4.ts';

// The examples of the Amazon S3 documentation, "Signature Calculations for the Authorization Header" and "Query Parameters".
const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const scope = { region: 'us-east-1', service: 's3', timeMs: Date.parse('2013-05-24T00:00:00Z') };
const host = 'examplebucket.s3.amazonaws.com';

describe('signing', () => {
  test('signs the GET of an object as the documentation does', () => {
    const signed = signHeaders(
      { method: 'GET', path: '/test.txt', headers: { host, range: 'bytes=0-9' } },
      keys,
      scope,
    );
    expect(signed).toEqual({
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
        'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,' +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    });
  });

  test('signs the PUT of an object whose key needs escaping', () => {
    const request = {
      method: 'PUT',
      path: '/test$file.text',
      headers: { host, date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    };
    const bodyHash = '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072';
    expect(signHeaders(request, keys, scope, bodyHash).authorization).toContain(
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    );
  });

  test.each([
    { query: 'lifecycle', signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543' },
    { query: 'prefix=J&max-keys=2', signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7' },
  ])('signs the query ?$query', ({ query, signature }) => {
    const signed = signHeaders({ method: 'GET', path: '/', query, headers: { host } }, keys, scope);
    expect(signed.authorization).toContain(signature);
  });

  test('presigns a URL as the documentation does', () => {
    const query = presignQuery({ method: 'GET', path: '/test.txt', headers: { host } }, keys, scope, 86_400);
    expect(query).toContain('X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request');
    expect(query).toMatch(/X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/);
  });

  test('escapes a path the same whether or not it came escaped', () => {
    const of = (path: string) => signatureOf({ method: 'GET', path, headers: { host } }, ['host'], 'x', scope, 'y');
    expect(of('/a%20b/%C3%BC(1)')).toBe(of('/a b/ü(1)'));
    expect(of('/a/b')).not.toBe(of('/a%2Fc'));
  });

  test('reads the time it writes, and nothing else', () => {
    expect(parseAmzDate('20130524T000000Z')).toBe(scope.timeMs);
    expect(parseAmzDate('2013-05-24')).toBeNaN();
  });
});
