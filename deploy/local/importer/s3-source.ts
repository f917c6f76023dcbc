import type { IncomingMessage } from 'node:http';
import { posix } from 'node:path';
import { delay } from '../clock.ts';
import { encodePath, type KeyPair, signHeaders } from '../object-store/sigv4.ts';
import type { Download, DownloadRequest } from './download.ts';
import { ImportFailure } from './failure.ts';
import { body, ConnectionFailed, request } from './request.ts';

/**
 * Opens an object of S3 the way CDI does: one signed GET of a path-style URL, cleaned and tried again by the AWS SDK
 * as long as no body has come, redirects not followed, the total length not looked at.
 */
export async function openS3(wanted: DownloadRequest): Promise<Download> {
  const { bucket, key } = bucketAndKey(wanted.url);
  try {
    const answer = await getObject(wanted, bucket, key);
    return { chunks: body(answer), totalBytes: undefined, close: () => answer.destroy() };
  } catch (error) {
    if (!(error instanceof SdkError)) throw error;
    const what = `could not get s3 object: "${bucket}/${key}": ${error.message}`;
    throw new ImportFailure(`Unable to connect to s3 data source: ${what}`);
  }
}

/** The first segment of the path is the bucket, whatever the host says; so a virtual-hosted URL is misread, as CDI misreads it. */
function bucketAndKey(url: string): { bucket: string; key: string } {
  const path = decodeURIComponent(new URL(url).pathname).replace(/^\/+|\/+$/g, '');
  const [bucket = '', ...key] = path.split('/');
  return { bucket, key: key.join('/') };
}

/** The region in `s3.<region>.amazonaws.com`, else whatever comes before the first dot of the host. */
export function regionOf(host: string): string {
  return /s3\.(.+)\.amazonaws\.com/.exec(host)?.[1] ?? host.split('.')[0] ?? '';
}

/** An error as version 1 of the AWS SDK for Go words it. */
class SdkError extends Error {
  readonly isRetryable: boolean;
  readonly isThrottle: boolean;
  constructor(message: string, status = 0) {
    super(message);
    this.isThrottle = [429, 502, 503, 504].includes(status);
    this.isRetryable = this.isThrottle || (status >= 500 && status !== 501);
  }
}

class SdkConnectionError extends SdkError {
  override readonly isRetryable = true;
}

const mostRetries = 3;

async function getObject(wanted: DownloadRequest, bucket: string, key: string): Promise<IncomingMessage> {
  const { accessKeyId = '', secretKey = '' } = wanted.credentials ?? {};
  if (!accessKeyId || !secretKey) throw new SdkError('EmptyStaticCreds: static credentials are empty');
  if (!key)
    throw new SdkError(
      'InvalidParameter: 1 validation error(s) found.\n- minimum field size of 1, GetObjectInput.Key.\n',
    );
  for (let retries = 0; ; retries++) {
    try {
      return await getOnce(wanted, { accessKeyId, secretKey }, bucket, key);
    } catch (error) {
      if (!(error instanceof SdkError) || !error.isRetryable || retries === mostRetries) throw error;
      // The SDK waits between one and two of these; the middle keeps a run repeatable.
      const leastMs = error.isThrottle ? 500 : 30;
      await delay(wanted.clock, 1.5 * leastMs * 2 ** retries, wanted.signal);
    }
  }
}

async function getOnce(
  { url: given, signal, clock }: DownloadRequest,
  keys: KeyPair,
  bucket: string,
  key: string,
): Promise<IncomingMessage> {
  const path = encodePath(posix.normalize(`/${bucket}/${key}`));
  const url = new URL(path, new URL(given).origin);
  const scope = { region: regionOf(url.host), service: 's3', timeMs: clock.now() };
  const signed = signHeaders({ method: 'GET', path: url.pathname, headers: { host: url.host } }, keys, scope);
  const answer = await request({ method: 'GET', url, headers: { host: url.host, ...signed }, signal }).catch(
    (error) => {
      if (!(error instanceof ConnectionFailed)) throw error;
      throw new SdkConnectionError(`RequestError: send request failed\ncaused by: ${error.message}`);
    },
  );
  if (answer.statusCode === 200) return answer;
  throw await refusal(answer, scope.region, url.host);
}

async function refusal(answer: IncomingMessage, region: string, endpoint: string): Promise<SdkError> {
  const { statusCode: status = 0, statusMessage = '', headers } = answer;
  const xml = await text(answer);
  const code = /<Code>(.*?)<\/Code>/s.exec(xml)?.[1] ?? statusMessage.replaceAll(' ', '');
  const message = /<Message>(.*?)<\/Message>/s.exec(xml)?.[1] ?? statusMessage;
  const what =
    status === 301
      ? `BucketRegionError: incorrect region, the bucket is not in '${region}' region at endpoint '${endpoint}'`
      : `${code}: ${message.replaceAll('&#39;', "'").replaceAll('&amp;', '&')}`;
  const ids = `request id: ${headers['x-amz-request-id'] ?? ''}, host id: ${headers['x-amz-id-2'] ?? ''}`;
  return new SdkError(`${what}\n\tstatus code: ${status}, ${ids}`, status);
}

/** As much of an error's body as its message needs; a server may send anything. */
async function text(answer: IncomingMessage): Promise<string> {
  let read = '';
  try {
    for await (const chunk of answer) {
      read += chunk;
      if (read.length > 16 * 1024) break;
    }
  } catch {
    // A broken body leaves the status line to go by.
  }
  return read;
}
