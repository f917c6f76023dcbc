import type { IncomingMessage } from 'node:http';
import type { Download, DownloadRequest } from './download.ts';
import { ImportFailure } from './failure.ts';
import { type Ask, body, ConnectionFailed, request } from './request.ts';

/** Opens a download from any web server the way CDI does: HEAD for the length, then GET, both with Basic auth if there are credentials. */
export async function openHttp(wanted: DownloadRequest): Promise<Download> {
  const headers = { 'user-agent': 'cdi-golang-importer', ...basicAuth(wanted.credentials) };
  const ask = (method: Ask['method']) =>
    following({ method, url: new URL(wanted.url), headers, signal: wanted.signal });
  try {
    const head = await ask('HEAD').catch((error) => {
      // CDI continues without a length; only the GET decides.
      if (error instanceof ConnectionFailed) return undefined;
      throw error;
    });
    head?.destroy();
    const answer = await ask('GET');
    if (answer.statusCode !== 200) {
      answer.destroy();
      throw new ImportFailure(`${connecting}: ${unexpectedStatus(answer)}`);
    }
    return {
      chunks: idleGuarded(body(answer), answer, wanted),
      totalBytes: (head?.statusCode === 200 ? lengthOf(head) : undefined) ?? lengthOf(answer),
      close: () => answer.destroy(),
    };
  } catch (error) {
    if (!(error instanceof ConnectionFailed)) throw error;
    throw new ImportFailure(`${connecting}: HTTP request errored: ${error.message}`);
  }
}

const connecting = 'Unable to connect to http data source';
const mostRedirects = 10;
const longestSilenceMs = 10 * 60_000;

const unexpectedStatus = ({ statusCode, statusMessage }: IncomingMessage) =>
  `expected status code 200, got ${statusCode}. Status: ${statusCode} ${statusMessage}`;

function basicAuth({ accessKeyId, secretKey }: NonNullable<DownloadRequest['credentials']> = noCredentials) {
  if (!accessKeyId || !secretKey) return {};
  return { authorization: `Basic ${Buffer.from(`${accessKeyId}:${secretKey}`).toString('base64')}` };
}

const noCredentials = { accessKeyId: '', secretKey: '' };

/** Follows redirects. CDI sends the credentials along to wherever they lead; here they stay with the server they were meant for. */
async function following(ask: Ask): Promise<IncomingMessage> {
  let { url, headers } = ask;
  for (let redirects = 0; ; redirects++) {
    const answer = await request({ ...ask, url, headers });
    const { statusCode = 0, headers: answered } = answer;
    if (![301, 302, 303, 307, 308].includes(statusCode) || !answered.location || redirects === mostRedirects)
      return answer;
    answer.destroy();
    const next = new URL(answered.location, url);
    if (!/^https?:$/.test(next.protocol)) return answer;
    if (next.origin !== url.origin) headers = { 'user-agent': headers['user-agent'] ?? '' };
    url = next;
  }
}

function lengthOf({ headers }: IncomingMessage): number | undefined {
  return headers['content-length'] === undefined ? undefined : Number(headers['content-length']);
}

/** CDI gives up on a web server that has sent nothing for ten minutes (it never does so with S3). */
async function* idleGuarded(chunks: AsyncIterable<Buffer>, answer: IncomingMessage, { clock }: DownloadRequest) {
  const giveUp = () => void answer.destroy(new Error('context canceled'));
  let callOff = clock.after(longestSilenceMs, giveUp);
  try {
    for await (const chunk of chunks) {
      callOff();
      yield chunk;
      callOff = clock.after(longestSilenceMs, giveUp);
    }
  } finally {
    callOff();
  }
}
