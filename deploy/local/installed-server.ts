import { randomUUID } from 'node:crypto';
import { applyManifests, readManifests } from '../manifests.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './api-server/api-server.ts';
import type { StoreContents } from './api-server/store-file.ts';
import { clientOf } from './client.ts';
import { realClock } from './clock.ts';

/** The manifests of a cluster in which nothing of Knative and no function is installed. */
export const baseFolders: readonly string[] = ['crds', 'deploy/local/crds', 'deploy/base', 'deploy/local/base'];

/** What a server has after an installation, by its folders: a process of tests starts hundreds of servers with the same. */
const installed = new Map<string, Promise<StoreContents>>();

/** Starts an API server in memory to which the manifests of these folders have been applied. */
export async function startInstalledServer(
  folders: readonly string[],
  options: Omit<ApiServerOptions, 'file' | 'contents'> = { clock: realClock },
): Promise<ApiServer> {
  const key = folders.join(' ');
  const contents = installed.get(key) ?? install(folders);
  installed.set(key, contents);
  return startApiServer({ ...options, contents: withNewUids(await contents) });
}

/** Two clusters have no object in common: each takes away what its namespaces, told apart by their uids, have left behind on an OpenStack. */
const withNewUids = ({ objects, resourceVersion }: StoreContents): StoreContents => ({
  resourceVersion,
  objects: objects.map(({ resource, object }) => ({
    resource,
    object: { ...object, metadata: { ...object.metadata, uid: randomUUID() } },
  })),
});

async function install(folders: readonly string[]): Promise<StoreContents> {
  const server = await startApiServer({ clock: realClock });
  try {
    await applyManifests(clientOf(server), await readManifests(...folders));
    return server.contents();
  } finally {
    await server.close();
  }
}
