import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { putImage } from '../journeys/images.ts';
import { createImage, type Story, until, type World } from '../journeys/world.ts';
import { killApiServer, startApiServer } from './control-plane.ts';
import { install } from './installation.ts';
import { kubectlOrFail, portForward } from './kubectl.ts';
import { adminClient, onRealCluster } from './world.ts';

const limit = 4;
const names = Array.from({ length: 20 }, (_, index) => `image-${String(index).padStart(2, '0')}`);

/** Kills at once, as a node that dies would, the pods that a selector finds. */
const killPods = (namespace: string, selector: string) => async () => {
  await kubectlOrFail('delete', 'pods', '-n', namespace, '-l', selector, '--force', '--grace-period=0', '--wait=false');
};

const functionPod = (name: string) => killPods('sync-operator', `app.kubernetes.io/name=${name}`);

const victims: Record<string, () => Promise<void>> = {
  'start-sync': functionPod('start-sync'),
  'follow-sync': functionPod('follow-sync'),
  'all functions': killPods('sync-operator', 'app.kubernetes.io/part-of=ot-functions'),
  'the adapters of all sources': killPods('sync-operator', 'eventing.knative.dev/source=apiserver-source-controller'),
  "the Broker's filter": killPods('knative-eventing', 'eventing.knative.dev/brokerRole=filter'),
  "the Broker's ingress": killPods('knative-eventing', 'eventing.knative.dev/brokerRole=ingress'),
  "the channel's dispatcher": killPods('knative-eventing', 'messaging.knative.dev/role=dispatcher'),
  'the timers': killPods('knative-eventing', 'eventing.knative.dev/source=ping-source-controller'),
  'the API server': async () => {
    await killApiServer();
    await startApiServer();
  },
};

/** Twenty images, and one kill each time so many more are done, so that every kill falls into the middle of syncs. */
const story = (name: string, kill: () => Promise<void>, kills = 2): Story => ({
  name,
  policy: { concurrency: String(limit), retryBackoffDuration: '1s' },
  run: async (world) => {
    world.store.limitTo(8 * 1024 * 1024);
    await putImage(world, 'one', { key: 'one.qcow2', dataBytes: 4 * 1024 * 1024 });
    for (const image of names) await createImage(world, image, { url: `${world.store.url}/images/one.qcow2` });
    for (let killed = 1; killed <= kills; killed++) {
      await doneAtLeast(world, Math.floor((names.length * killed) / (kills + 2)));
      await kill();
    }
    await doneAtLeast(world, names.length);
    expect(world.history.mostAtOnce()).toBeLessThanOrEqual(limit);
  },
});

/** Resolves when so many images are ready, whatever the API server goes through meanwhile. */
async function doneAtLeast({ kube, namespace }: World, count: number): Promise<void> {
  const isReady = (image: VMDiskImage | undefined) => image?.status?.phase === 'Succeeded';
  for (const name of names.slice(0, count)) {
    await persistently(() => until({ kube }, VMDiskImage, { namespace, name }, isReady, 120_000));
  }
}

/** Asks again where the API server was away in the middle of it. */
async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  const overMs = Date.now() + 180_000;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > overMs || !isAway(error)) throw error;
    }
  }
}

const isAway = (error: unknown) =>
  /ECONNREFUSED|ECONNRESET|socket|fetch failed|terminated|other side closed/i.test(
    `${error} ${(error as Error).cause}`,
  );

let kube: Kube;
let broker: Awaited<ReturnType<typeof portForward>>;
beforeAll(async () => {
  kube = adminClient();
  await install('serving');
  broker = await portForward('knative-eventing', 'broker-ingress', 80);
});
afterAll(() => broker?.close());

describe('twenty syncs all end well, and no limit is broken, when in the middle of them somebody kills', () => {
  for (const [name, kill] of Object.entries(victims)) {
    test(name, () => onRealCluster(story(name, kill), { kube, broker: broker.url }), 300_000);
  }
});
