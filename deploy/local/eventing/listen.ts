import { serve } from '@hono/node-server';
import type { Handler } from './address.ts';

/** Serves a handler over HTTP on loopback; port 0 takes a free one. Throws where the port is taken. */
export async function listen(handler: Handler, port: number): Promise<{ url: string; close(): Promise<void> }> {
  const listening = Promise.withResolvers<number>();
  const server = serve({ fetch: handler, port, hostname: '127.0.0.1' }, (address) => listening.resolve(address.port));
  server.once('error', listening.reject);
  const url = `http://127.0.0.1:${await listening.promise}`;
  return {
    url,
    close: async () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
