import { timerOf } from '../../../shared/event-filter.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import { type DataFolder, openDataFolder } from '../data-folder.ts';
import { eventRequest } from '../eventing/event.ts';
import { pingOf } from '../eventing/ping.ts';
import { PingSource } from '../eventing/resources.ts';
import { applyChangedManifests } from '../installed-manifests.ts';
import { type ObjectStore, startObjectStore } from '../object-store/object-store.ts';
import { type LocalCluster, startLocal } from '../start.ts';
import { secretManifest } from './key-pair.ts';
import { lastPorts, rememberPorts, sameWhereFree } from './last-ports.ts';
import { type Ports, portTrouble } from './ports.ts';
import { putSampleImages } from './sample-images.ts';

const keys = { accessKeyId: 'local-reader', secretKey: 'local-reader-secret' };

/** What the object store sends, all downloads together: slow enough to watch a queue. */
const bytesPerSecond = 8e6;

/** A local cluster with an object store that holds the sample images. */
export interface Up {
  cluster: LocalCluster;
  store: ObjectStore;
  /** There was no cluster in its folder before. */
  isNew: boolean;
  /** How much of an object has been sent in all, and how large it is; undefined for an object that is not in the store. */
  traffic(url: string): { sentBytes: number; size: number } | undefined;
  close(): Promise<void>;
}

/** Brings them up as the folder has kept them; throws one line that says what to do where folder or port cannot be had. */
export async function bringUp(options: { folder: string; fresh: boolean; wanted: Ports }): Promise<Up> {
  const { folder, fresh, wanted } = options;
  const started: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  };
  let ports = wanted;
  try {
    const dataFolder = openDataFolder(folder, { fresh });
    started.push(dataFolder.close);
    ports = await sameWhereFree(wanted, await lastPorts(folder));
    const store = await startObjectStore({
      keys: [keys],
      port: ports.storePort,
      bytesPerSecond,
      folder: dataFolder.objects,
    });
    started.push(store.close);
    await putSampleImages(store);
    const cluster = await startCluster(ports, store, dataFolder);
    started.push(cluster.close);
    if (!dataFolder.isNew) await postAudit(cluster);
    await rememberPorts(folder, portsIn(cluster, store));
    return { cluster, store, isNew: dataFolder.isNew, close, traffic: trafficOf(store) };
  } catch (error) {
    await close();
    const trouble = portTrouble(error, ports);
    throw trouble ? new Error(trouble, { cause: error }) : error;
  }
}

async function startCluster(ports: Ports, store: ObjectStore, dataFolder: DataFolder): Promise<LocalCluster> {
  let sentBytes = 0;
  store.onBytes((_, bytes) => {
    sentBytes += bytes;
  });
  const cluster = await startLocal({
    dataFolder,
    port: ports.port,
    brokerPort: ports.brokerPort,
    metricsPort: ports.metricsPort,
    consolePort: ports.consolePort,
    bytesSent: () => sentBytes,
    schedules: { sweep: '*/5 * * * * *' },
    // Nothing has ever been downloaded to a new cluster: there is nothing to wait for.
    ...(dataFolder.isNew ? { gracePeriodMs: 0 } : {}),
  });
  try {
    const secret = secretManifest({ namespace: 'vmdi-farm', secretName: 's3-reader', keys });
    await applyChangedManifests(cluster.kube, [secret]);
    // Templates and pipelines may ask for what the object store has, with its Secret; only this machine reaches the Broker.
    const data = {
      allowedSources: `${store.url}/** s3-reader`,
      unsignedPublications: 'Accept',
      // Where the image of the example of a lab comes from.
      imageUrlTemplate: `${store.url}/images/{name}.qcow2`,
    };
    if (dataFolder.isNew) await cluster.kube.patch(ConfigMap, policyRef, { data });
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** Events are lost while nothing listens, and the timers that make up for them fire only minutes later. */
async function postAudit({ kube, eventing, clock }: LocalCluster): Promise<void> {
  const timers = await kube.list(PingSource, { namespace: operatorNamespace });
  for (const audit of timers.filter(({ metadata }) => timerOf(metadata.name) === 'audit')) {
    const broker = `${eventing.url}/${operatorNamespace}/${audit.spec.sink.ref?.name}`;
    const answer = await fetch(eventRequest(broker, pingOf(audit, clock.now()), {}));
    if (!answer.ok)
      throw new Error(
        `expected the Broker to take the tick of PingSource ${audit.metadata.name}, found ${answer.status}`,
      );
  }
}

const portsIn = ({ server, broker, metricsUrl = '', consoleUrl = '' }: LocalCluster, store: ObjectStore): Ports => ({
  port: server.port,
  brokerPort: Number(new URL(broker).port),
  storePort: Number(new URL(store.url).port),
  metricsPort: Number(new URL(metricsUrl).port),
  consolePort: Number(new URL(consoleUrl).port),
});

const trafficOf = (store: ObjectStore) => (url: string) => {
  const size = url.startsWith(`${store.url}/`) ? store.sizeOf(url) : undefined;
  return size === undefined ? undefined : { sentBytes: store.bytesSent(url), size };
};
