import { applyManifests } from '../manifests.ts';
import { type ObjectStore, startObjectStore } from '../object-store/object-store.ts';
import { objectPath } from '../object-store/traffic.ts';
import { type LocalCluster, startLocal } from '../start.ts';
import { secretManifest } from './key-pair.ts';
import { type Ports, portTrouble } from './ports.ts';
import { putSampleImages } from './sample-images.ts';

const keys = { accessKeyId: 'local-reader', secretKey: 'local-reader-secret' };

/** What the object store sends, all downloads together: slow enough to watch a queue. */
const bytesPerSecond = 8e6;

/** A local cluster with an object store that holds the sample images. */
export interface Up {
  cluster: LocalCluster;
  store: ObjectStore;
  /** How much of an object has been sent in all, and how large it is; undefined for one that is not the store's. */
  traffic(url: string): { sentBytes: number; size: number } | undefined;
  close(): Promise<void>;
}

/** Brings them up on these ports; throws one line that says what to do where a port cannot be had. */
export async function bringUp(ports: Ports): Promise<Up> {
  const started: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  };
  try {
    const store = await startObjectStore({ keys: [keys], port: ports.storePort, bytesPerSecond });
    started.push(store.close);
    let sentBytes = 0;
    store.onBytes((_, bytes) => {
      sentBytes += bytes;
    });
    const sizes = await putSampleImages(store);
    const cluster = await startLocal({
      port: ports.port,
      brokerPort: ports.brokerPort,
      metricsPort: ports.metricsPort,
      bytesSent: () => sentBytes,
      schedules: { sweep: '*/5 * * * * *' },
      // Nothing has ever been downloaded to this cluster: there is nothing to wait for.
      holdOffMs: 0,
    });
    started.push(cluster.close);
    await applyManifests(cluster.kube, [secretManifest({ namespace: 'vmdi-farm', secretName: 's3-reader', keys })]);
    return {
      cluster,
      store,
      close,
      traffic: (url) => {
        const size = url.startsWith(`${store.url}/`) ? sizes.get(objectPath(url)) : undefined;
        return size === undefined ? undefined : { sentBytes: store.bytesSent(url), size };
      },
    };
  } catch (error) {
    await close();
    const trouble = portTrouble(error, ports);
    throw trouble ? new Error(trouble, { cause: error }) : error;
  }
}
