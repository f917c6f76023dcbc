import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Kube } from '../../shared/runtime/kube.ts';
import { consoleApp } from './app.ts';
import { authorizer, type Viewer } from './authorize.ts';
import { readAssets } from './page/assets.ts';
import { watchCluster } from './watch-cluster.ts';

interface ConsoleOptions {
  kube: Pick<Kube, 'create' | 'pages' | 'watch'>;
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** The user without a token, if every user who can reach the page is the cluster's admin anyway. */
  anonymous?: Viewer;
  now?(): number;
}

/** A running console. */
export interface Console {
  url: string;
  close(): Promise<void>;
}

/** Lists what the page shows, then serves it. Throws where the port is taken or the API server refuses a list. */
export async function startConsole({ kube, host, port, anonymous, now = Date.now }: ConsoleOptions): Promise<Console> {
  const [watched, assets] = await Promise.all([watchCluster(kube, now), readAssets()]);
  const log = (level: 'info' | 'warn', message: string) =>
    console.log(JSON.stringify({ level, function: 'console', message: message.slice(0, 500) }));
  const app = consoleApp({ watched, authorize: authorizer(kube, now), anonymous, assets, log });
  const server = createServer(getRequestListener(app.fetch));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      watched.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
