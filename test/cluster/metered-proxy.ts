import { randomBytes } from 'node:crypto';
import { request as ask, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Bandwidth } from '../../deploy/local/object-store/bandwidth.ts';
import type { Fault, FaultTable } from '../../deploy/local/object-store/faults.ts';
import { errorXml, s3Errors } from '../../deploy/local/object-store/s3-error.ts';
import { sendBody } from '../../deploy/local/object-store/send-body.ts';
import type { Traffic } from '../../deploy/local/object-store/traffic.ts';

/** A proxy between the clients of an S3 server and the server on this port of loopback. */
export interface Between {
  port: number;
  faults: FaultTable;
  bandwidth: Bandwidth;
  traffic: Traffic;
}

interface Asked {
  /** `/bucket/key`, with nothing escaped. */
  name: string;
  isDownload: boolean;
  fault: Fault | undefined;
}

/**
 * Passes each request on as it came, the Host header, too, which signatures cover, and each answer back: what a
 * download brings is counted, takes its turn on the link, and meets its fault.
 */
export function meteredProxy(between: Between): RequestListener {
  return (request, response) => {
    const asked = read(request, between);
    between.traffic.countRequest(asked.name, request.method ?? '');
    if (asked.fault?.mode === 'status') return refuse(asked, asked.fault.status, request, response);
    const { method, url: path, rawHeaders: headers } = request;
    const onward = ask({ host: '127.0.0.1', port: between.port, method, path, headers, agent: false, setHost: false });
    onward.once('error', () => (response.headersSent ? response.destroy() : refuse(asked, 503, request, response)));
    onward.once('response', (answer) => void passBack(asked, answer, response, between));
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  };
}

function read({ method, url = '/' }: IncomingMessage, { faults }: Between): Asked {
  const name = decoded(url.split('?', 1)[0] ?? '/');
  const isDownload = method === 'GET' && /^\/[^/]+\/./.test(name);
  return { name, isDownload, fault: isDownload ? faults.meet(name) : faults.see(name) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

async function passBack(
  { name, isDownload, fault }: Asked,
  answer: IncomingMessage,
  response: ServerResponse,
  { bandwidth, traffic }: Between,
): Promise<void> {
  const { statusCode: status = 502, rawHeaders, headers } = answer;
  response.writeHead(status, rawHeaders);
  if (!isDownload || status >= 300) return void answer.pipe(response);
  const onSent = (bytes: number) => traffic.countBytes(name, bytes);
  const bytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  try {
    await sendBody(response, { bytes, chunks: answer, fault, onSent }, bandwidth);
  } catch {
    // The server broke off, and so do we.
    response.destroy();
  }
}

function refuse({ name }: Asked, status: number, request: IncomingMessage, response: ServerResponse): void {
  const xml = errorXml(s3Errors.ofStatus(status), name, randomBytes(8).toString('hex').toUpperCase(), '');
  response.writeHead(status, { 'content-type': 'application/xml', connection: 'close' });
  response.end(request.method === 'HEAD' ? undefined : xml);
}
