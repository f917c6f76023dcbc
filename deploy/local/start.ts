import { loadFunctions } from '../../knative/functions.ts';
import { defaultGracePeriodMs } from '../../shared/images/slots.ts';
import { hardwareKinds } from '../../shared/kinds/kubevirt/hardware.ts';
import { operatorNamespace, publicBroker } from '../../shared/operator.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createPublicationKey, createSiteKey } from '../keys.ts';
import { generatedFolders, openStackFolders, readManifests } from '../manifests.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './api-server/api-server.ts';
import { admin } from './api-server/authentication.ts';
import { type CdiOptions, startCdi } from './cdi/start-cdi.ts';
import { webhooks } from './cdi/webhooks.ts';
import { clientOf } from './client.ts';
import { type Clock, realClock } from './clock.ts';
import type { DataFolder } from './data-folder.ts';
import { type Eventing, type EventingOptions, startEventing } from './eventing/start.ts';
import { serveFunctions } from './functions.ts';
import { importImage } from './importer/import-image.ts';
import { applyChangedManifests } from './installed-manifests.ts';
import { baseFolders, startInstalledServer } from './installed-server.ts';
import { type KubeOvnOptions, startKubeOvn } from './kube-ovn/start-kube-ovn.ts';
import { admitMachine } from './kubevirt/admit.ts';
import { type KubevirtOptions, startKubevirt } from './kubevirt/start-kubevirt.ts';
import { type SnapshotterOptions, startSnapshotter } from './snapshots/start-snapshotter.ts';
import { startLocalTelemetry } from './telemetry.ts';
import { registerNode } from './workloads/node.ts';
import { startWorkloads, type WorkloadOptions } from './workloads/start-workloads.ts';

export interface LocalOptions {
  clock?: Clock;
  /** The stored cluster, from which it continues; without it the cluster is in memory only. The caller that opened it closes it afterwards. */
  dataFolder?: DataFolder;
  /** Port of the API server; 0, the default, takes a free one. */
  port?: number;
  /** Port of the Broker's ingress. */
  brokerPort?: number;
  /** Other schedules for the timers `sweep` and `audit`. */
  schedules?: EventingOptions['schedules'];
  faults?: EventingOptions['faults'];
  cdi?: Omit<Partial<CdiOptions>, 'kube' | 'clock'>;
  snapshotter?: Omit<Partial<SnapshotterOptions>, 'kube' | 'clock'>;
  kubevirt?: Omit<Partial<KubevirtOptions>, 'kube' | 'clock'>;
  kubeOvn?: Omit<Partial<KubeOvnOptions>, 'kube' | 'clock'>;
  workloads?: Omit<Partial<WorkloadOptions>, 'kube' | 'clock'>;
  intercept?: ApiServerOptions['intercept'];
  /** Runs the functions for OpenStack too; Secrets have its address. */
  openStack?: boolean;
  /** How they reach it; the process's own `fetch` unless a test intercepts it. */
  fetchOpenStack?: typeof fetch;
  /** False leaves CDI, the snapshotter, KubeVirt, kube-ovn and what runs Deployments and Jobs out, for tests that bring others. */
  simulators?: boolean;
  /** How many instances of a function run side by side, by name; 1 by default. */
  replicas?: Readonly<Record<string, number>>;
  /** Serves the functions elsewhere than in this thread. */
  serveFunctions?: typeof serveFunctions;
  /** How long no slot is granted after the slot Lease was created again. */
  gracePeriodMs?: number;
  onLost?: (line: string) => void;
  /** Port of Prometheus' `/metrics`, 0 for a free one; without it the functions of this cluster report nothing. */
  metricsPort?: number;
  /** Port of deploy/console, 0 for a free one; by default it does not run. */
  consolePort?: number;
  /** Bytes downloaded so far, for the exact metric: what an object store beside this cluster has sent. */
  bytesSent?: () => number;
}

/** A cluster in this process: API server, eventing, functions, and the controllers of others that they need. */
export interface LocalCluster {
  server: ApiServer;
  /** A client of its administrator. */
  kube: Kube;
  eventing: Eventing;
  /** Where a pipeline posts its events. */
  broker: string;
  clock: Clock;
  /** Where Prometheus scrapes, if `metricsPort` was given. */
  metricsUrl: string | undefined;
  /** Where the page is that shows what happens, if `consolePort` was given. */
  consoleUrl: string | undefined;
  close(): Promise<void>;
}

/** The manifests that every local cluster has. */
const shippedFolders = [...baseFolders, 'deploy/local/eventing/crds', ...generatedFolders];

/** Brings up the local cluster with everything in it that the manifests of this project say. */
export async function startLocal(options: LocalOptions = {}): Promise<LocalCluster> {
  const clock = options.clock ?? realClock;
  const started: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of started.splice(0).reverse()) await stop();
  };
  try {
    const folders = [...shippedFolders, ...(options.openStack ? openStackFolders : [])];
    const file = options.dataFolder?.storeFile;
    const { port = 0, intercept } = options;
    const serverOptions = { clock, port, ...(intercept ? { intercept } : {}) };
    const server = file
      ? await startApiServer({ ...serverOptions, file })
      : await startInstalledServer(folders, serverOptions);
    started.push(server.close);
    const kube = clientOf(server);
    server.addAdmission(webhooks(kube));
    server.addAdmission((request) => admitMachine(request, (field, name) => kube.get(hardwareKinds[field], { name })));
    if (file) await applyChangedManifests(kube, await readManifests(...folders));
    await createPublicationKey(kube);
    await createSiteKey(kube);

    const telemetry = await telemetryFor(server, options);
    if (telemetry) started.push(telemetry.close);
    let sink: string | undefined;
    const serve = options.serveFunctions ?? serveFunctions;
    const functions = serve(await loadFunctions({ openStack: options.openStack ?? false }), {
      server,
      clock,
      sink: () => sink,
      replicas: options.replicas ?? {},
      gracePeriodMs: options.gracePeriodMs ?? defaultGracePeriodMs,
      fetchOpenStack: options.fetchOpenStack ?? fetch,
    });
    started.push(functions.drain);
    const eventing = await startEventing({
      kube,
      // A source watches under its own ServiceAccount, so that a missing permission shows here.
      kubeOf: ({ namespace = '', name }) => clientOf(server, server.tokenFor({ namespace, name })),
      clock,
      functions: functions.handler,
      port: options.brokerPort ?? 0,
      schedules: options.schedules ?? {},
      ...(options.faults ? { faults: options.faults } : {}),
      ...(options.onLost ? { onLost: options.onLost } : {}),
    });
    started.push(eventing.close);
    const broker = `${eventing.url}/${operatorNamespace}/${publicBroker}`;
    sink = broker;
    started.push(async () => {
      sink = undefined;
    });
    if (options.simulators ?? true) {
      await registerNode(kube, clock);
      const cdi = startCdi({ kube, clock, importImage, ...options.cdi });
      started.push(cdi.stop);
      const snapshotter = startSnapshotter({ kube, clock, cutMs: 50, readyMs: 150, ...options.snapshotter });
      started.push(snapshotter.stop);
      const kubevirt = startKubevirt({ kube, clock, ...options.kubevirt });
      started.push(kubevirt.stop);
      const kubeOvn = startKubeOvn({ kube, clock, ...options.kubeOvn });
      started.push(kubeOvn.stop);
      const workloads = startWorkloads({ kube, clock, ...options.workloads });
      started.push(workloads.stop);
    }
    const page = await consoleFor(kube, options);
    if (page) started.push(page.close);
    const urls = { metricsUrl: telemetry?.metricsUrl, consoleUrl: page?.url };
    return { server, kube, eventing, broker, clock, ...urls, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The API server treats every client on this machine as an admin, and so does the page. */
async function consoleFor(kube: Kube, { consolePort }: LocalOptions) {
  if (consolePort === undefined) return undefined;
  const { startConsole } = await import('../console/start.ts');
  const anonymous = { name: admin.name, mayList: async () => true };
  return startConsole({ kube, host: '127.0.0.1', port: consolePort, anonymous });
}

/** The gauges are read under the ServiceAccount of the one function that computes them in a real cluster. */
function telemetryFor(server: ApiServer, { metricsPort, bytesSent, openStack }: LocalOptions) {
  if (metricsPort === undefined) return undefined;
  const as = (name: string) => clientOf(server, server.tokenFor({ namespace: operatorNamespace, name }));
  const serverKube = openStack ? as('provision-server') : undefined;
  return startLocalTelemetry({ metricsPort, kube: as('start-sync'), serverKube, bytesSent });
}
