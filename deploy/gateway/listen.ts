import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { getRequestListener } from '@hono/node-server';
import { reloadingFile } from './reloading-file.ts';

interface ListenOptions {
  port: number;
  host: string;
  /** The files of the certificate; without them it is plain HTTP, for a mesh or an Ingress that ends TLS. */
  tls: { certificate: string; key: string } | undefined;
  complain(why: string): void;
}

export interface Listening {
  url: string;
  /** Looks whether the certificate's files hold a new one; connections made from then on get it. */
  renew(): Promise<boolean>;
  /** Takes no more requests; resolves when those begun are answered. */
  close(): Promise<void>;
}

/** A client that dawdles is shut out. */
const patience = { headersTimeout: 10_000, requestTimeout: 30_000 };

/** Serves over HTTPS; throws where the port is taken or the certificate cannot be used. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { port, host, tls, complain }: ListenOptions,
): Promise<Listening> {
  const listener = getRequestListener(fetch);
  const certificate = tls && (await reloadingFile([tls.certificate, tls.key], usable, complain));
  const https = certificate && createHttpsServer({ ...patience, ...certificate.current() }, listener);
  const server = https ?? createHttpServer(patience, listener);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, host, resolve);
  await promise;
  return {
    url: `${https ? 'https' : 'http'}://${host}:${(server.address() as AddressInfo).port}`,
    async renew() {
      const isNew = (await certificate?.check()) ?? false;
      if (isNew && certificate) https?.setSecureContext(certificate.current());
      return isNew;
    },
    close: () => closed(server),
  };
}

/** Throws where the two do not belong together, as it can be seen while they are replaced. */
function usable(cert: string, key: string): { cert: string; key: string } {
  createSecureContext({ cert, key });
  return { cert, key };
}

function closed(server: Server | HttpsServer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeIdleConnections();
  return promise;
}
