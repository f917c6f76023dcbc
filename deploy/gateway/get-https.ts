import { readFile } from 'node:fs/promises';
import { get } from 'node:https';

interface GetOptions {
  /** Certificates to trust instead of the usual ones, PEM. */
  caFile?: string | undefined;
  timeoutMs?: number;
  maxBytes?: number;
}

/**
 * The body at an https URL. Follows no redirect and reads no more than `maxBytes`: the URL comes from the configuration,
 * and the server must not choose another one. Throws unless 200 comes back in time.
 */
export async function getHttps(url: URL, options: GetOptions = {}): Promise<string> {
  const { caFile, timeoutMs = 5000, maxBytes = 256 * 1024 } = options;
  if (url.protocol !== 'https:') throw new Error(`expected an https URL, found ${url.protocol}//${url.host}`);
  const ca = caFile ? { ca: await readFile(caFile) } : {};
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const signal = AbortSignal.timeout(timeoutMs);
  // A connection of its own: a pooled one would outlive a change of caFile.
  const request = get(url, { ...ca, agent: false, signal, headers: { accept: 'application/json' } }, (response) => {
    if (response.statusCode !== 200) {
      response.resume();
      return reject(
        new Error(`expected 200 of ${url.host}, found ${response.statusCode} (redirects are not followed)`),
      );
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) request.destroy(new Error(`expected at most ${maxBytes} bytes of ${url.host}`));
      else chunks.push(chunk);
    });
    response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    response.on('error', reject);
  });
  request.on('error', (error) =>
    reject(signal.aborted ? new Error(`expected an answer of ${url.host} within ${timeoutMs} ms`) : error),
  );
  return promise;
}
