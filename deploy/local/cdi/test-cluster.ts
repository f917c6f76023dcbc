import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { ApiServer } from '../api-server/api-server.ts';
import { clientOf } from '../client.ts';
import type { Clock } from '../clock.ts';
import { Claim, DataVolume, type Source, StorageClass } from '../controller/kinds.ts';
import { startInstalledServer } from '../installed-server.ts';
import { admit } from './admit.ts';
import { refuseClone, userOf } from './clone-authorization.ts';

/** A local API server with the storage kinds and the class `gp3`, and what has been seen on its watches. */
export interface TestCluster {
  kube: Kube;
  as(serviceAccount: { namespace: string; name: string }): Kube;
  server: ApiServer;
  dropWatches(): void;
  /** Every state of every object of a kind from here on, in order. */
  record<T extends KubernetesObject>(resource: Resource<T>): Promise<Recording<T>>;
  close(): Promise<void>;
}

export interface Recording<T> {
  events: { type: string; object: T }[];
  /** The first state, past or to come, of which this is true. */
  until(isIt: (object: T, type: string) => boolean, what?: string): Promise<T>;
}

export async function testCluster(clock: Clock): Promise<TestCluster> {
  const server = await startInstalledServer(['deploy/local/crds'], { clock });
  const kube = clientOf(server);
  await kube.create(StorageClass, {
    apiVersion: StorageClass.apiVersion,
    kind: StorageClass.kind,
    metadata: { name: 'gp3' },
    provisioner: 'ebs.csi.aws.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  });
  server.addAdmission((request) =>
    admit(
      request,
      (namespace, name) => kube.get(Claim, { namespace, name }),
      (user, namespace) => refuseClone(kube, userOf(user), namespace),
    ),
  );
  const abort = new AbortController();
  return {
    kube,
    as: (account) => clientOf(server, server.tokenFor(account)),
    server,
    dropWatches: server.dropWatches,
    record: (resource) => record(kube, resource, abort.signal),
    async close() {
      abort.abort();
      await server.close();
    },
  };
}

const patienceMs = 10_000;

async function record<T extends KubernetesObject>(
  kube: Kube,
  resource: Resource<T>,
  signal: AbortSignal,
): Promise<Recording<T>> {
  const events: { type: string; object: T }[] = [];
  const waiting = new Set<() => void>();
  let resourceVersion = '';
  for await (const page of kube.pages(resource)) resourceVersion = page.resourceVersion;
  const onEvent = (event: { type: string; object: T }) => {
    events.push(event);
    for (const look of [...waiting]) look();
  };
  void kube.watch(resource, { resourceVersion, signal }, onEvent).catch(() => undefined);
  const until = (isIt: (object: T, type: string) => boolean, what = isIt.toString()) =>
    new Promise<T>((resolve, reject) => {
      const late = setTimeout(() => {
        waiting.delete(look);
        const withoutNoise = (key: string, value: unknown) => (key === 'managedFields' ? undefined : value);
        const last = JSON.stringify(events.at(-1)?.object, withoutNoise);
        reject(new Error(`waited ${patienceMs} ms for a ${resource.kind} such that ${what}; the last seen is ${last}`));
      }, patienceMs);
      const look = () => {
        const found = events.find(({ object, type }) => isIt(object, type));
        if (!found) return;
        clearTimeout(late);
        waiting.delete(look);
        resolve(found.object);
      };
      waiting.add(look);
      look();
    });
  return { events, until };
}

/** A DataVolume of 1Gi on `gp3` that binds at once. */
export const aDataVolume = (name: string, source: Source, spec: Record<string, unknown> = {}) => ({
  apiVersion: DataVolume.apiVersion,
  kind: DataVolume.kind,
  metadata: {
    name,
    namespace: 'default',
    labels: { 'pelotech.ot/disk-image-uid': 'image-1' },
    annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
  },
  spec: { source, storage: { storageClassName: 'gp3', resources: { requests: { storage: '1Gi' } } }, ...spec },
});
