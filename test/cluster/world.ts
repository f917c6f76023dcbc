import { randomUUID } from 'node:crypto';
import { KubeConfig } from '@kubernetes/client-node';
import { startCdi } from '../../deploy/local/cdi/start-cdi.ts';
import { realClock } from '../../deploy/local/clock.ts';
import { importImage } from '../../deploy/local/importer/import-image.ts';
import { readManifests } from '../../deploy/local/manifests.ts';
import { startObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { startSnapshotter } from '../../deploy/local/snapshots/start-snapshotter.ts';
import { ConfigMap } from '../../shared/resources/core/config-map.ts';
import { Event } from '../../shared/resources/core/event.ts';
import { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { defineResource } from '../../shared/resources/resource.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { policyName } from '../../shared/rules/policy.ts';
import { type Kube, kubeClient } from '../../shared/runtime/kube.ts';
import { recordHistory } from '../journeys/history.ts';
import { type Story, setPolicy, untilGone, type World } from '../journeys/world.ts';
import { kubectl } from './kubectl.ts';

const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };
const Namespace = defineResource({ apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }, {});
const Secret = defineResource({ apiVersion: 'v1', kind: 'Secret', plural: 'secrets' }, {});

/** The administrator's client for the cluster of KUBECONFIG. */
export function adminClient(): Kube {
  const config = new KubeConfig();
  config.loadFromDefault();
  return kubeClient(config);
}

/**
 * Runs a story on the cluster of KUBECONFIG, where the functions are installed, with the simulated CDI and snapshotter
 * as ordinary clients beside it. Policy and slots are one for the whole cluster: one story at a time.
 */
export async function onRealCluster(story: Story, { kube, broker }: { kube: Kube; broker: string }): Promise<void> {
  const store = await startObjectStore({ keys: [keys], publicBuckets: ['public'] });
  const namespace = `lab-${randomUUID().slice(0, 8)}`;
  await startAnew(kube);
  await kube.create(Namespace, { metadata: { name: namespace } });
  await kube.create(Secret, {
    metadata: { name: 's3-reader', namespace },
    data: { accessKeyId: base64(keys.accessKeyId), secretKey: base64(keys.secretKey) },
  });
  const history = await recordHistory(kube);
  const world: World = { kube, broker, store, namespace, history, kubectl };
  const simulators = simulated(story, kube);
  try {
    await setPolicy(world, { concurrency: '2', retryLimit: '2', retryBackoffDuration: '200ms', ...story.policy });
    await story.run(world);
  } finally {
    await history.stop();
    store.faults.splice(0);
    store.limitTo(undefined);
    await kube.delete(Namespace, { name: namespace });
    for (const image of await kube.list(VMDiskImage)) await untilGone(world, VMDiskImage, image.metadata);
    await untilGone(world, Namespace, { name: namespace });
    for (const { stop } of simulators) await stop();
    await store.close();
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

function simulated({ simulators = {} }: Story, kube: Kube) {
  if (simulators === false) return [];
  return [
    startCdi({ kube, clock: realClock, importImage, ...simulators.cdi }),
    startSnapshotter({ kube, clock: realClock, cutMs: 50, readyMs: 150, ...simulators.snapshotter }),
  ];
}

/** The policy as it is installed, and no Events of stories before. */
async function startAnew(kube: Kube): Promise<void> {
  const installed = await readManifests('deploy/base');
  const policy = ConfigMap.parse(installed.find(({ metadata }) => metadata.name === policyName));
  const ref = { namespace: operatorNamespace, name: policyName };
  const found = await kube.get(ConfigMap, ref);
  if (found) await kube.replace(ConfigMap, { ...found, data: policy.data });
  for (const { metadata } of await kube.list(Event, { namespace: operatorNamespace }))
    await kube.delete(Event, metadata);
}
