import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { UnexpectedEnd } from './failure.ts';

/** What to ask a server for. */
export interface Ask {
  method: 'GET' | 'HEAD';
  url: URL;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/**
 * Sends one request on a connection of its own and resolves when the head of the response has arrived.
 * Not fetch: that gives up on a body that is silent for five minutes and unpacks some on its own; CDI does neither.
 */
export function request({ method, url, headers, signal }: Ask): Promise<IncomingMessage> {
  const { request: send } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    send(url, { method, headers, signal, agent: false })
      .once('response', resolve)
      .once('error', (error: NodeJS.ErrnoException) => {
        reject(
          signal.aborted
            ? signal.reason
            : new ConnectionFailed(`${goVerb(method)} "${bare(url)}": ${dialError(error, url)}`),
        );
      })
      .end();
  });
}

/** No answer came. */
export class ConnectionFailed extends Error {}

/** The body of an answer, chunk by chunk; throws UnexpectedEnd when the connection breaks. */
export async function* body(answer: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer) yield chunk;
  } catch (error) {
    // What came before the break is still in the answer's buffer.
    for (let left = answer.read(); left !== null; left = answer.read()) yield left;
    const wasCut = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
    throw wasCut ? new UnexpectedEnd() : error;
  }
}

/** A URL as it may be shown: without user, password and query, which may hold a signature. */
const bare = (url: URL) => `${url.origin}${url.pathname}`;

const goVerb = (method: string) => `${method[0]}${method.slice(1).toLowerCase()}`;

function dialError(error: NodeJS.ErrnoException, { hostname, host, port, protocol }: URL): string {
  const address = port ? host : `${host}:${protocol === 'https:' ? 443 : 80}`;
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}: connect: connection refused`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'ETIMEDOUT':
      return `dial tcp ${address}: i/o timeout`;
    case 'ECONNRESET':
      return 'EOF';
    default:
      return error.code?.includes('CERT') ? `tls: failed to verify certificate: x509: ${error.message}` : error.message;
  }
}
