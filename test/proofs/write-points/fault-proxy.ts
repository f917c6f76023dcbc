import {
  Agent,
  request as askPlainly,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { request as ask, Agent as SecureAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KubeConfig } from '@kubernetes/client-node';

/**
 * A fault of a write between a function and the API server. `crashBefore`: the process dies before the write arrives.
 * `crashAfter`: the write arrives, and the process dies without an answer. `answerLost`: the write arrives, and the process gets a
 * connection error.
 */
export const writeFaults = ['crashBefore', 'crashAfter', 'answerLost'] as const;
export type WriteFault = (typeof writeFaults)[number];

/** One write of a run, with its count: `start-sync POST datavolumes 1`. */
export type WritePoint = string;

/** A proxy between functions and their API server. */
export interface FaultProxy {
  /** The address of the API server for this function. */
  urlFor(name: string): string;
  /** Resets the counts; the fault, if any, is injected at its write. */
  begin(fault?: { at: WritePoint; what: WriteFault }): void;
  /** The writes since then, in order. */
  points(): readonly WritePoint[];
  /** The write of the fault has come. */
  wasInjected(): boolean;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  /** The address and CA of the API server; requests keep their own token. */
  config: KubeConfig;
  /** Kills the function's process; resolves when it has ended. */
  kill(name: string): Promise<void>;
}

export async function startFaultProxy({ config, kill }: FaultProxyOptions): Promise<FaultProxy> {
  const upstream = upstreamOf(config);
  let fault: { at: WritePoint; what: WriteFault } | undefined;
  let wasInjected = false;
  let points: WritePoint[] = [];

  const faultOf = (write: string): WriteFault | undefined => {
    const point = `${write} ${1 + points.filter((known) => known.startsWith(`${write} `)).length}`;
    points.push(point);
    if (wasInjected || fault?.at !== point) return undefined;
    wasInjected = true;
    return fault.what;
  };

  const server = createServer(async (request, response) => {
    const { name, path } = splitUrl(request.url ?? '/');
    try {
      const body = await bytesOf(request);
      const what = isWrite(request) ? faultOf(`${name} ${request.method} ${whatOf(path)}`) : undefined;
      if (what === 'crashBefore') await kill(name);
      else await answered(what);

      async function answered(what: WriteFault | undefined) {
        const answer = await upstream({ method: request.method, path, headers: request.headers, body });
        if (what === 'crashAfter') await kill(name);
        else if (what === 'answerLost') request.socket.resetAndDestroy();
        else send(response, answer);
      }
    } catch {
      // The API server or the function closed the connection.
    }
    if (!response.writableEnded) response.destroy();
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlFor: (name) => `http://127.0.0.1:${port}/${name}`,
    begin: (next) => {
      fault = next;
      wasInjected = false;
      points = [];
    },
    points: () => points,
    wasInjected: () => wasInjected,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const isWrite = ({ method }: IncomingMessage) => method !== 'GET' && method !== 'HEAD';

/** The function of this URL, and the path at the API server. */
function splitUrl(url: string): { name: string; path: string } {
  const [, name = '', path = '/'] = /^\/([^/]+)(\/.*)$/.exec(url) ?? [];
  return { name, path };
}

/** `datavolumes`, or `vmdiskimages/status` for a subresource: a journey has one object of each kind. */
function whatOf(path: string): string {
  const [, , resource = '', , subresource] =
    /^\/(apis\/[^/]+\/[^/]+|api\/v1)(?:\/namespaces\/[^/]+)?\/([^/?]+)(\/[^/?]+)?(?:\/([^/?]+))?/.exec(path) ?? [];
  return subresource ? `${resource}/${subresource}` : resource;
}

interface Answer {
  status: number;
  headers: OutgoingHttpHeaders;
  body: Buffer;
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers);
  response.end(body);
}

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream));
}

interface Asked {
  method: string | undefined;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** Sends a request to the API server, and resolves with the complete answer: a write is then stored. */
function upstreamOf(config: KubeConfig): (asked: Asked) => Promise<Answer> {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('expected a kubeconfig that names a cluster, found none');
  const { server, caData, skipTLSVerify } = cluster;
  const isSecure = server.startsWith('https:');
  const trust = caData ? { ca: Buffer.from(caData, 'base64') } : {};
  const agent = isSecure
    ? new SecureAgent({ keepAlive: true, ...trust, ...(skipTLSVerify ? { rejectUnauthorized: false } : {}) })
    : new Agent({ keepAlive: true });
  const { host } = new URL(server);
  return ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const options = { method, agent, headers: { ...headers, host } };
      const onward = (isSecure ? ask : askPlainly)(new URL(path, server), options);
      onward.once('error', reject);
      onward.once('response', (answer) => {
        const { statusCode: status = 502, headers } = answer;
        bytesOf(answer).then((bytes) => resolve({ status, headers, body: bytes }), reject);
      });
      onward.end(body);
    });
}
