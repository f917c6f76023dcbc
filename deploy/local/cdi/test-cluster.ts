import { Event } from '../../../shared/kinds/core/event.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { ApiServer } from '../api-server/api-server.ts';
import { clientOf } from '../client.ts';
import type { Clock } from '../clock.ts';
import { type DataVolume, type Source, StorageClass } from '../controller/kinds.ts';
import type { EventText } from '../controller/write.ts';
import { startInstalledServer } from '../installed-server.ts';
import { webhooks } from './webhooks.ts';

/** A local API server with the storage kinds and the class `gp3`, and what has been seen on its watches. */
export interface TestCluster {
  kube: Kube;
  as(serviceAccount: { namespace: string; name: string }): Kube;
  server: ApiServer;
  dropWatches(): void;
  /** Every state of every object of a kind from here on, in order. */
  record<T extends KubernetesObject>(resource: Resource<T>): Promise<Recording<T>>;
  /** The Events that there are. */
  events(): Promise<SeenEvent[]>;
  close(): Promise<void>;
}

export interface SeenEvent extends EventText {
  involvedObject: { kind: string };
}

export interface Recording<T> {
  events: { type: string; object: T }[];
  /** What the states say of themselves in order, without repetitions. */
  inTurn<Said>(said: (object: T) => Said): Said[];
  /** The first state, past or to come, of which this is true. */
  until(isIt: (object: T, type: string) => boolean, what?: string): Promise<T>;
}

export async function testCluster(clock: Clock): Promise<TestCluster> {
  const server = await startInstalledServer(['deploy/local/crds'], { clock });
  const kube = clientOf(server);
  await kube.create(StorageClass, {
    metadata: { name: 'gp3' },
    provisioner: 'ebs.csi.aws.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  });
  server.addAdmission(webhooks(kube));
  const abort = new AbortController();
  return {
    kube,
    as: (account) => clientOf(server, server.tokenFor(account)),
    server,
    dropWatches: server.dropWatches,
    record: (resource) => record(kube, resource, abort.signal),
    events: async () => (await kube.list(Event)) as unknown as SeenEvent[],
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
  const inTurn = <Said>(said: (object: T) => Said) =>
    events.map(({ object }) => said(object)).filter((one, index, all) => one !== all[index - 1]);
  return { events, inTurn, until };
}

/** A DataVolume of 1Gi on `gp3` that binds at once. */
export const aDataVolume = (name: string, source: Source, spec: Record<string, unknown> = {}) => ({
  metadata: {
    name,
    namespace: 'default',
    labels: { 'pelotech.ot/disk-image-uid': 'image-1' },
    annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
  },
  spec: { source, storage: { storageClassName: 'gp3', resources: { requests: { storage: '1Gi' } } }, ...spec },
});

export const conditionOf = ({ status }: DataVolume, type: string) =>
  status?.conditions.find((condition) => condition.type === type);

export const isDone = (dataVolume: DataVolume) =>
  dataVolume.status?.phase === 'Succeeded' && conditionOf(dataVolume, 'Bound')?.status === 'True';
