import { lookup } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { AwsV4Signer } from 'aws4fetch';

/** A part of an object at a URL, and what is needed to be given it. */
export interface SourceRequest {
  url: string;
  /** The first byte, and the most bytes from there on. */
  range: { from: number; bytes: number };
  credentials?: { as: 's3' | 'basic'; accessKeyId: string; secretKey: string } | undefined;
  /** Certificates to trust beside the usual ones, PEM. */
  ca?: readonly string[] | undefined;
  /** Why nothing may be asked at this URL, whose host has this address; asked for each address, and at each redirect again. */
  refuses(url: string, address: string): string | undefined;
}

/** An answer, or the reason without one: the policy refuses it, or it did not come. */
export type SourceAnswer =
  | {
      /** HTTP's status; of an object without ranges 200. */
      status: number;
      /** The length of the whole object, if the server says it. */
      bytes: number | undefined;
      etag: string | undefined;
      lastModified: string | undefined;
      /** What came of the part that was asked for. */
      body: Buffer;
    }
  | { refused: string }
  | { unreachable: string };

export type ReadSource = (request: SourceRequest) => Promise<SourceAnswer>;

interface Network {
  /** The addresses of a name. */
  resolve(host: string): Promise<readonly string[]>;
  timeoutMs: number;
}

const network: Network = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  timeoutMs: 4000,
};

const mostRedirects = 5;

/** Reads a part of an object over http or https, in seconds, and no byte more than asked for. */
export async function readSource(request: SourceRequest, { resolve, timeoutMs } = network): Promise<SourceAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  const start = startOf(request);
  if ('refused' in start) return start;
  const { origin } = start;
  let url = start;
  for (let redirects = 0; ; redirects++) {
    const fault = faultOf(url);
    if (fault) return { refused: fault };
    try {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const addresses = isIP(host) ? [host] : await inTime(resolve(host), signal);
      const refusal = addresses
        .map((address) => request.refuses(redirects === 0 ? request.url : url.href, address))
        .find((one) => one !== undefined);
      if (refusal !== undefined) return { refused: refusal };
      const answer = await ask(url, addresses, await headersFor(url, url.origin === origin, request), request, signal);
      const { statusCode: status = 0, headers } = answer;
      const isRedirect = [301, 302, 303, 307, 308].includes(status) && headers.location !== undefined;
      // As CDI, which follows none of S3.
      if (!isRedirect || request.credentials?.as === 's3') return await answered(answer, request, signal);
      answer.destroy();
      if (redirects === mostRedirects) return { unreachable: `more than ${mostRedirects} redirects` };
      url = new URL(headers.location ?? '', url);
    } catch (error) {
      return { unreachable: signal.aborted ? `no answer within ${timeoutMs / 1000} s` : describeError(error) };
    }
  }
}

/** What a URL may never be, whatever the policy says. */
function faultOf({ protocol, username, password }: URL): string | undefined {
  if (protocol !== 'http:' && protocol !== 'https:') return `expected http: or https:, found ${protocol}`;
  return username || password ? 'expected no user or password in a URL' : undefined;
}

/** Credentials stay with the server that they are for. */
async function headersFor(url: URL, isFirst: boolean, { range, credentials }: SourceRequest) {
  const headers = {
    // The address is the URL's; only the connection is made to what its name resolved to.
    host: url.host,
    range: `bytes=${range.from}-${range.from + range.bytes - 1}`,
    'accept-encoding': 'identity',
    'user-agent': 'ot-functions',
  };
  if (!credentials || !isFirst) return headers;
  const { accessKeyId, secretKey } = credentials;
  if (credentials.as === 'basic') {
    const pair = Buffer.from(`${accessKeyId}:${secretKey}`).toString('base64');
    return { ...headers, authorization: `Basic ${pair}` };
  }
  const { host, range: bytes } = headers;
  const signer = new AwsV4Signer({
    url: url.href,
    headers: { range: bytes },
    accessKeyId,
    secretAccessKey: secretKey,
    service: 's3',
    region: regionOf(host),
  });
  const signed = await signer.sign();
  return { ...headers, ...Object.fromEntries(signed.headers) };
}

/** As CDI guesses it: the region in `s3.<region>.amazonaws.com`, else what comes before the first dot of the host. */
const regionOf = (host: string) => /s3\.(.+)\.amazonaws\.com/.exec(host)?.[1] ?? host.split('.')[0] ?? '';

/**
 * The URL of an S3 object as CDI asks for it (containerized-data-importer, pkg/importer/s3-datasource.go): the first segment of the decoded
 * path is the bucket, empty ones are left out, and each is encoded as S3 signs it. A ".." leads out of the bucket.
 */
function startOf({ url, credentials }: SourceRequest): URL | { refused: string } {
  const given = URL.parse(url);
  const impossible = { refused: 'the URL is not one that S3 can have' };
  if (!given || credentials?.as !== 's3') return given ?? impossible;
  // The error of such a header would tell the key.
  if (!/^[\x21-\x7e]+$/.test(credentials.accessKeyId))
    return { refused: 'the access key ID is not one that S3 can have' };
  try {
    const segments = decodeURIComponent(given.pathname).split('/').filter(Boolean);
    if (segments.some((segment) => segment === '.' || segment === '..')) return impossible;
    given.pathname = segments.map(encoded).join('/');
    given.search = '';
    return given;
  } catch {
    return impossible;
  }
}

const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`);

/** Connects to one of these addresses, and to no other that the name may have by now. */
function ask(
  url: URL,
  addresses: readonly string[],
  headers: Record<string, string>,
  { ca }: SourceRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  const options = {
    headers,
    signal,
    agent: false as const,
    lookup: (_: string, { all }: { all?: boolean }, done: (...found: unknown[]) => void) =>
      all ? done(null, pinned) : done(null, pinned[0]?.address, pinned[0]?.family),
    ...(ca ? { ca: [...rootCertificates, ...ca] } : {}),
  };
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  send(url, options as Parameters<typeof requestHttps>[1] & object, resolve)
    .on('error', reject)
    .end();
  return promise;
}

/** Takes what was asked for and closes the connection: a server without ranges would send the whole object. */
async function answered(answer: IncomingMessage, { range }: SourceRequest, signal: AbortSignal): Promise<SourceAnswer> {
  const { statusCode: status = 0, headers } = answer;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer) {
    signal.throwIfAborted();
    chunks.push(chunk);
    length += chunk.length;
    if (length >= range.bytes) break;
  }
  answer.destroy();
  const total = status === 200 ? headers['content-length'] : /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1];
  return {
    status,
    bytes: Number.isSafeInteger(Number(total)) ? Number(total) : undefined,
    etag: headers.etag,
    lastModified: headers['last-modified'],
    body: Buffer.concat(chunks).subarray(0, range.bytes),
  };
}

function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return Promise.race([work, promise]);
}

/** Without the server's text, which may be anything. */
function describeError(error: unknown): string {
  const { code, message, errors } = error as { code?: string; message?: string; errors?: unknown[] };
  if (errors?.[0] !== undefined) return describeError(errors[0]);
  return message || code || 'no answer';
}
