import { startObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { qcow2Buffer } from '../../deploy/local/object-store/qcow2.ts';
import { type LocalOptions, startLocal } from '../../deploy/local/start.ts';
import { systemsOf } from '../../knative/broker.ts';
import { loadFunctions } from '../../knative/functions.ts';
import { timerAttributes } from '../../shared/event-filter.ts';
import type { System } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { keyPair } from '../support/builders/images.ts';

/** A namespace that the local cluster has from its beginning. */
export const benchNamespace = 'vmdi-farm';

/** The local cluster as it is measured: without CDI and snapshotter, and every event under the bench's control if it wants. */
export interface BenchCluster {
  kube: Kube;
  /** Answered requests since the last call of this, by `user verb resource 2xx`. */
  newRequests(): Map<string, number>;
  /** Posts an event to the Broker of a system, or of images, and resolves when every function is done with it and with what came of it. */
  post(attributes: Record<string, string>, system?: System): Promise<void>;
  /** Fires the timers of all systems. */
  tick(timer: 'sweep' | 'audit'): Promise<void>;
  setConcurrency(limit: number): Promise<void>;
  createImage(name: string, metadata?: object): Promise<VMDiskImage>;
  /** Resolves when no function has anything left to do. */
  settled(): Promise<void>;
  /** No function receives events from now on. */
  muteSources(): void;
  close(): Promise<void>;
}

/** A cron schedule that is not due for half a day. */
export const notInThisRun = () => `0 0 ${(new Date().getHours() + 12) % 24} * * *`;

/** Starts a local cluster whose timers fire only when the bench posts their events. */
export async function startBenchCluster(options: Pick<LocalOptions, 'intercept'> = {}): Promise<BenchCluster> {
  const schedules = { sweep: notInThisRun(), audit: notInThisRun() };
  const systems = systemsOf(await loadFunctions());
  const cluster = await startLocal({ simulators: false, gracePeriodMs: 0, schedules, ...options });
  const { kube, server, eventing } = cluster;
  await kube.create(Secret, { metadata: { name: 's3-reader', namespace: benchNamespace }, data: keyPair });
  const store = await startObjectStore({ keys: [{ accessKeyId: 'key', secretKey: 'secret' }] });
  await kube.patch(ConfigMap, policyRef, { data: { allowedSources: `${store.url}/**` } });
  let before = new Map<string, number>();
  let sent = 0;
  const post = async (attributes: Record<string, string>, system: System = 'images') => {
    const all = { specversion: '1.0', id: `bench-${++sent}`, source: '/bench', ...attributes };
    const headers = Object.entries(all).map(([key, value]): [string, string] => [`ce-${key}`, value]);
    const response = await fetch(`${eventing.url}/${operatorNamespace}/${system}`, { method: 'POST', headers });
    if (!response.ok) throw new Error(`expected the Broker to take an event, it answered ${response.status}`);
    await eventing.idle();
  };
  return {
    kube,
    post,
    tick: async (timer) => {
      for (const system of systems) await post(timerAttributes(timer, system), system);
    },
    newRequests() {
      const now = server.requests();
      const grown = [...now].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const);
      before = now;
      return new Map(grown.filter(([, count]) => count > 0));
    },
    async setConcurrency(limit) {
      await kube.patch(ConfigMap, policyRef, { data: { concurrency: String(limit) } });
    },
    // Each has a content of its own, which its inspection reads: of the same one all but the first would be cloned.
    createImage: async (name, metadata = {}) => {
      await store.put('images', name, qcow2Buffer({ virtualBytes: 32 << 20, dataBytes: 512, seed: name }));
      return kube.create(VMDiskImage, imageNamed(name, metadata, `${store.url}/images/${name}`));
    },
    settled: () => eventing.idle(),
    muteSources: () => eventing.stopSources(),
    close: async () => {
      await cluster.close();
      await store.close();
    },
  };
}

const imageNamed = (name: string, metadata: object, url: string) => ({
  apiVersion: VMDiskImage.apiVersion,
  kind: VMDiskImage.kind,
  metadata: { name, namespace: benchNamespace, ...metadata },
  spec: { storageClass: 'gp3', snapshotClass: 'ebs-snapshot', secretRef: 's3-reader', url, diskSize: '64Mi' },
});
