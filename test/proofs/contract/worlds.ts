import type { ApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { type Connection, connectionOf, send, type World } from './connection.ts';

export const localWorld = (server: ApiServer): World => ({
  connection: { url: server.url },
  compact: async () => server.compact(),
});

/** The cluster that KUBECONFIG names, with the etcd beside it; throws if KUBECONFIG is missing. */
export async function realWorld(): Promise<World> {
  const kubeconfig = process.env.KUBECONFIG;
  if (!kubeconfig) throw new Error('expected KUBECONFIG to name a real cluster, found none: run test/cluster/run');
  return { connection: await connectionOf(kubeconfig), compact: compactEtcd };
}

/** The minor version of Kubernetes that a world runs: `1.37`. */
export async function versionOf({ connection }: World): Promise<string> {
  const { text } = await send(connection, { method: 'GET', path: '/version', headers: {} });
  const { major, minor } = JSON.parse(text) as { major: string; minor: string };
  return `${major}.${minor}`;
}

const etcd: Connection = { url: process.env.CONTRACT_ETCD ?? 'http://127.0.0.1:2379' };

async function compactEtcd() {
  const ask = async (path: string, body: unknown) => {
    const answer = await send(etcd, { method: 'POST', path, headers: {}, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`etcd answered ${answer.status} to ${path}: ${answer.text}`);
    return JSON.parse(answer.text) as { header: { revision: string } };
  };
  const { header } = await ask('/v3/kv/range', { key: 'AA==' });
  await ask('/v3/kv/compaction', { revision: header.revision });
}
