import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { parse } from 'yaml';

/** An API server and how to speak to it as its admin. */
export interface Connection {
  url: string;
  /** What its certificate is signed with; only where it has one. */
  ca?: Buffer;
  /** The admin's certificate and key; a server on loopback may need none. */
  cert?: Buffer;
  key?: Buffer;
}

/** A server the contract is asked of. */
export interface World {
  connection: Connection;
  /** Forgets the history, so that continue tokens from before are answered 410. */
  compact(): Promise<void>;
}

interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
  /** Speaks as whom the token names, not as the admin. */
  token?: string | undefined;
}

/** What came back, whole. */
export interface RawAnswer {
  status: number;
  text: string;
  /** The Warning headers, comma-separated as they come. */
  warning: string;
}

/** The admin's connection that a kubeconfig file names. */
export async function connectionOf(kubeconfig: string): Promise<Connection> {
  const { clusters, users } = parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
  const { cluster } = clusters[0];
  const { user } = users[0];
  const decoded = (text: string) => Buffer.from(text, 'base64');
  return {
    url: cluster.server,
    ca: decoded(cluster['certificate-authority-data']),
    cert: decoded(user['client-certificate-data']),
    key: decoded(user['client-key-data']),
  };
}

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

/** Sends one request and reads its answer to the end. */
export function send({ url, ca, cert, key }: Connection, { method, path, headers, body, token }: Request) {
  const target = new URL(path, url);
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
  const asAdmin = cert && key && !token ? { cert, key } : {};
  return new Promise<RawAnswer>((resolve, reject) => {
    const sent = request(
      target,
      {
        method,
        headers: {
          'user-agent': 'contract/1',
          // Without it Node would send the body of a DELETE as if there were none.
          'content-length': Buffer.byteLength(body ?? ''),
          ...headers,
          ...(token && { authorization: `Bearer ${token}` }),
        },
        agent: false,
        ...(ca && { ca }),
        ...asAdmin,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString('utf8'),
            warning: [response.headers.warning ?? []].flat().join(', '),
          }),
        );
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}
