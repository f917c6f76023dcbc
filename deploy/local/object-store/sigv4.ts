import { createHash, createHmac } from 'node:crypto';

/** A pair of keys that S3 knows someone by. */
export interface KeyPair {
  accessKeyId: string;
  secretKey: string;
}

/** What AWS Signature Version 4 covers of a request: `path` as on the request line, header names in lower case. */
export interface SignableRequest {
  method: string;
  path: string;
  query?: string;
  headers: Record<string, string>;
}

/** For whom and when a signature is valid. */
interface Scope {
  region: string;
  service: string;
  timeMs: number;
}

/** What a request without a body has for the hash of its body. */
const emptyPayloadHash = sha256('');

/** What a request says that leaves its body out of the signature. */
export const unsignedPayload = 'UNSIGNED-PAYLOAD';

/** The headers that sign `request`, whose own headers must hold `host`; every header given is signed. */
export function signHeaders(
  request: SignableRequest,
  keys: KeyPair,
  scope: Scope,
  payloadHash = emptyPayloadHash,
): Record<string, string> {
  const added = { 'x-amz-content-sha256': payloadHash, 'x-amz-date': amzDate(scope.timeMs) };
  const headers = { ...request.headers, ...added };
  const names = Object.keys(headers).sort();
  const signature = signatureOf({ ...request, headers }, names, keys.secretKey, scope, payloadHash);
  const authorization = `${algorithm} Credential=${keys.accessKeyId}/${credentialScope(scope)},SignedHeaders=${names.join(';')},Signature=${signature}`;
  return { ...added, authorization };
}

/** The query of a URL that lets anyone send this one request until it expires. */
export function presignQuery(request: SignableRequest, keys: KeyPair, scope: Scope, expiresSeconds: number): string {
  const names = Object.keys(request.headers).sort();
  const query = new URLSearchParams(request.query);
  query.set('X-Amz-Algorithm', algorithm);
  query.set('X-Amz-Credential', `${keys.accessKeyId}/${credentialScope(scope)}`);
  query.set('X-Amz-Date', amzDate(scope.timeMs));
  query.set('X-Amz-Expires', String(expiresSeconds));
  query.set('X-Amz-SignedHeaders', names.join(';'));
  const signature = signatureOf({ ...request, query: String(query) }, names, keys.secretKey, scope, unsignedPayload);
  return `${canonicalQuery(String(query))}&X-Amz-Signature=${signature}`;
}

/** The signature of a request over exactly the headers in `signedHeaders`. */
export function signatureOf(
  request: SignableRequest,
  signedHeaders: readonly string[],
  secretKey: string,
  scope: Scope,
  payloadHash: string,
): string {
  const toSign = [
    algorithm,
    amzDate(scope.timeMs),
    credentialScope(scope),
    sha256(canonicalRequest(request, signedHeaders, payloadHash)),
  ].join('\n');
  const steps = [amzDate(scope.timeMs).slice(0, 8), scope.region, scope.service, 'aws4_request'];
  const key = steps.reduce((previous: string | Buffer, step) => hmac(previous, step), `AWS4${secretKey}`);
  return hmac(key, toSign).toString('hex');
}

/** Milliseconds since 1970 of a time such as `20130524T000000Z`; NaN if it is invalid. */
export function parseAmzDate(text: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** A segment of a path or a part of a query as S3 writes it for signing: everything but A-Z a-z 0-9 - . _ ~ is escaped. */
const uriEncode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** A path as S3 writes it: each of its segments is escaped. */
export const encodePath = (path: string) => path.split('/').map(uriEncode).join('/');

const algorithm = 'AWS4-HMAC-SHA256';

function canonicalRequest(request: SignableRequest, signedHeaders: readonly string[], payloadHash: string) {
  const headers = signedHeaders.map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`);
  return [
    request.method,
    canonicalPath(request.path),
    canonicalQuery(request.query ?? ''),
    headers.join(''),
    signedHeaders.join(';'),
    payloadHash,
  ].join('\n');
}

// S3 alone escapes a path once, leaves "." and "//" in it, and takes an encoded slash for one; other services of AWS do otherwise.
const canonicalPath = (path: string) => encodePath(decodeURIComponent(path));

function canonicalQuery(query: string): string {
  return [...new URLSearchParams(query)]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => [uriEncode(name), uriEncode(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map((pair) => pair.join('='))
    .join('&');
}

const order = (a: string, b: string) => (a < b ? -1 : Number(a > b));

const amzDate = (timeMs: number) => new Date(timeMs).toISOString().replace(/[-:]|\.\d+/g, '');

const credentialScope = (scope: Scope) =>
  `${amzDate(scope.timeMs).slice(0, 8)}/${scope.region}/${scope.service}/aws4_request`;

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

function sha256(text: string) {
  return createHash('sha256').update(text).digest('hex');
}
