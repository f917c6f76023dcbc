import { afterEach, describe, expect, test } from 'vitest';
import { sourceManifests } from '../../../knative/sources.ts';
import { defineFunction, on } from '../../../shared/function.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { applyManifests } from '../../manifests.ts';
import { startApiServer } from '../api-server/api-server.ts';
import { clientOf } from '../client.ts';
import { realClock } from '../clock.ts';
import { startInstalledServer } from '../installed-server.ts';
import type { Handler } from './address.ts';
import { listen } from './listen.ts';
import { ApiServerSource, Broker, PingSource, Trigger } from './resources.ts';
import { type Eventing, type EventingOptions, startEventing } from './start.ts';

const namespace = 'default';
const brokerSink = { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: 'default' } };
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function aCluster() {
  const api = await startInstalledServer(['deploy/local/eventing/crds']);
  open.push(() => api.close());
  const kube = clientOf(api);
  const apply = (...objects: object[]) => applyManifests(kube, objects as KubernetesObject[]);
  const kubeOf = (account: { namespace: string; name: string }) => clientOf(api, api.tokenFor(account));
  return { api, kube, kubeOf, apply };
}

const aBroker = { apiVersion: Broker.apiVersion, kind: 'Broker', metadata: { name: 'default', namespace } };
const aTrigger = (name: string, spec: object = {}) => ({
  apiVersion: Trigger.apiVersion,
  kind: 'Trigger',
  metadata: { name, namespace },
  spec: { broker: 'default', subscriber: { ref: { apiVersion: 'v1', kind: 'Service', name } }, ...spec },
});
const aSource = (name: string, spec: object = {}) => ({
  apiVersion: ApiServerSource.apiVersion,
  kind: 'ApiServerSource',
  metadata: { name, namespace },
  spec: { resources: [{ apiVersion: 'v1', kind: 'ConfigMap' }], namespaceSelector: {}, sink: brokerSink, ...spec },
});
const aConfigMap = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
});

/** A subscriber that records its events, and lets tests wait for them. */
function observer() {
  const seen: string[] = [];
  const handler: Handler = async ({ headers }) => {
    const [word] = (headers.get('ce-type') ?? '').split('.').slice(-1);
    seen.push(`${word} ${headers.get('ce-name') ?? headers.get('ce-id')}`);
    return new Response(null, { status: 204 });
  };
  return { seen, handler, sees: (...wanted: string[]) => expect.poll(() => seen, { timeout: 5000 }).toEqual(wanted) };
}

async function eventing(
  cluster: Awaited<ReturnType<typeof aCluster>>,
  handlers: Record<string, Handler>,
  options: Partial<EventingOptions> = {},
): Promise<Eventing> {
  const started = await startEventing({ kube: cluster.kube, functions: (name) => handlers[name], ...options });
  open.push(started.close);
  return started;
}

const readyOf = (object: (KubernetesObject & { status?: Record<string, unknown> | undefined }) | undefined) => {
  const [ready] = (object?.status?.conditions ?? []) as { status: string; reason?: string }[];
  return ready?.reason ?? ready?.status;
};

describe('eventing on the local API server', () => {
  test('brings each change of a kind to the function whose Trigger wants it, and none from before', async () => {
    const cluster = await aCluster();
    const { kube, apply } = cluster;
    await apply(aConfigMap('old'), aBroker, aTrigger('observer'), aSource('changes'));
    const { handler, sees } = observer();
    await eventing(cluster, { observer: handler });
    await apply(aConfigMap('new'));
    await kube.patch(ConfigMap, { namespace, name: 'new' }, { data: { a: 'b' } });
    await kube.delete(ConfigMap, { namespace, name: 'new' });
    await sees('add new', 'update new', 'delete new');
  });

  test('runs Triggers and sources that are applied later, and reports it in their status', async () => {
    const cluster = await aCluster();
    const { kube, apply } = cluster;
    const { handler, sees } = observer();
    const { url } = await eventing(cluster, { observer: handler });
    const deadLetterSink = { ref: { apiVersion: 'v1', kind: 'Service', name: 'letters' }, uri: '/observer' };
    await apply(aTrigger('observer', { delivery: { deadLetterSink } }));
    const trigger = () => kube.get(Trigger, { namespace, name: 'observer' });
    await expect.poll(async () => readyOf(await trigger())).toBe('BrokerDoesNotExist');
    await apply(aBroker, aSource('changes'));
    await expect.poll(async () => readyOf(await trigger())).toBe('True');
    expect((await trigger())?.status).toMatchObject({
      subscriberUri: `http://observer.${namespace}.svc.cluster.local`,
      deadLetterSinkUri: `http://letters.${namespace}.svc.cluster.local/observer`,
    });
    const source = () => kube.get(ApiServerSource, { namespace, name: 'changes' });
    await expect.poll(async () => readyOf(await source())).toBe('True');
    expect((await source())?.status).toMatchObject({ sinkUri: `${url}/${namespace}/default` });
    await apply(aConfigMap('new'));
    await sees('add new');
  });

  test('reports an object that starts to match a selector as added, and one that stops to match as deleted', async () => {
    const cluster = await aCluster();
    const resources = [{ apiVersion: 'v1', kind: 'ConfigMap', selector: { matchLabels: { app: 'demo' } } }];
    await cluster.apply(aBroker, aTrigger('observer'), aSource('changes', { resources }));
    const { handler, sees } = observer();
    await eventing(cluster, { observer: handler });
    await cluster.apply(aConfigMap('one'));
    for (const app of ['demo', 'other']) {
      await cluster.kube.patch(ConfigMap, { namespace, name: 'one' }, { metadata: { labels: { app } } });
    }
    await sees('add one', 'delete one');
  });

  test('loses what changes while the sources are down, and nothing when a watch merely ends', async () => {
    const cluster = await aCluster();
    await cluster.apply(aBroker, aTrigger('observer'), aSource('changes'));
    const { handler, sees } = observer();
    const { stopSources, startSources } = await eventing(cluster, { observer: handler });
    cluster.api.dropWatches();
    await cluster.apply(aConfigMap('told'));
    await sees('add told');
    stopSources();
    await cluster.apply(aConfigMap('lost'));
    await startSources();
    await cluster.apply(aConfigMap('after'));
    await sees('add told', 'add after');
  });

  test('starts over with a list, telling nothing, when its watch has expired', async () => {
    const cluster = await aCluster();
    await cluster.apply(aBroker, aTrigger('observer'), aSource('changes'));
    const { handler, sees } = observer();
    await eventing(cluster, { observer: handler });
    await cluster.apply(aConfigMap('told'));
    await sees('add told');
    await cluster.apply(aTrigger('another'));
    cluster.api.compact();
    cluster.api.dropWatches();
    const lists = () => [...cluster.api.requests()].filter(([key]) => /list configmaps/.test(key)).map(([, n]) => n);
    await expect.poll(() => lists()[0], { timeout: 5000 }).toBe(2);
    await cluster.apply(aConfigMap('after'));
    await sees('add told', 'add after');
  });

  test('does not run a source whose kind is not served, nor one whose account may not watch', async () => {
    const cluster = await aCluster();
    const resources = [{ apiVersion: 'missing.example.com/v1', kind: 'Nothing' }];
    await cluster.apply(aBroker, aSource('unserved', { resources }), aSource('forbidden'));
    await eventing(cluster, {}, { kubeOf: cluster.kubeOf });
    for (const name of ['unserved', 'forbidden']) {
      const source = () => cluster.kube.get(ApiServerSource, { namespace, name });
      await expect.poll(async () => readyOf(await source())).toBe('NotRunning');
    }
  });

  test.each([
    ['runs the generated sources with the permissions generated for them', undefined, 'True'],
    ['runs none whose account lacks one of get, list and watch, as Knative does not', 'get', 'NotRunning'],
  ])('%s', async (_, lacking, ready) => {
    const cluster = await aCluster();
    const watcher = defineFunction({
      name: 'watcher',
      system: 'images',
      on: [on.changed(ConfigMap, { source: 'own' })],
      may: [],
      scale: 'zero',
      observe: async () => [],
      decide: () => [],
    });
    const [generated = []] = sourceManifests([watcher]).values();
    const manifests = generated.map((manifest) => {
      const { rules } = manifest as { rules?: readonly { verbs: string[] }[] };
      const left = rules?.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== lacking) }));
      return { ...manifest, ...(left ? { rules: left } : {}) };
    });
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'sync-operator' } }, ...manifests);
    await eventing(cluster, {}, { kubeOf: cluster.kubeOf });
    const source = () => cluster.kube.get(ApiServerSource, { namespace: 'sync-operator', name: 'images-own' });
    await expect.poll(async () => readyOf(await source())).toBe(ready);
  });

  test('ticks a PingSource by another schedule where one is given', async () => {
    const cluster = await aCluster();
    const ping = { schedule: '0 0 1 1 *', contentType: 'application/json', data: '{}', sink: brokerSink };
    const metadata = { name: 'sweep', namespace };
    await cluster.apply(aBroker, aTrigger('observer'), {
      apiVersion: PingSource.apiVersion,
      kind: 'PingSource',
      metadata,
      spec: ping,
    });
    const { handler, seen } = observer();
    await eventing(cluster, { observer: handler }, { schedules: { sweep: '* * * * * *' } });
    await expect.poll(() => seen[0], { timeout: 5000 }).toMatch(/^ping /);
  });

  test('says of which generation of a source its status is', async () => {
    const cluster = await aCluster();
    const { apiVersion, kind } = PingSource;
    const metadata = { name: 'sweep', namespace };
    const source = (schedule: string) => ({
      ...{ apiVersion, kind, metadata },
      spec: { schedule, contentType: 'application/json', data: '{}', sink: brokerSink },
    });
    await cluster.apply(aBroker, source('0 0 1 1 *'));
    await eventing(cluster, {});
    const observed = async () => {
      const { status } = (await cluster.kube.get(PingSource, metadata)) as { status?: { observedGeneration?: number } };
      return status?.observedGeneration;
    };
    await expect.poll(observed).toBe(1);
    await cluster.apply(source('0 0 2 1 *'));
    await expect.poll(observed).toBe(2);
  });

  test('posts to a subscriber elsewhere over HTTP, and listens for events from elsewhere', async () => {
    const cluster = await aCluster();
    const { handler, sees } = observer();
    const elsewhere = await listen(handler, 0);
    open.push(elsewhere.close);
    await cluster.apply(aBroker, aTrigger('elsewhere', { subscriber: { uri: elsewhere.url } }));
    const { url, deliveries, idle } = await eventing(cluster, {});
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'one', 'ce-source': '/test', 'ce-type': 'made.v1' };
    const response = await fetch(`${url}/${namespace}/default`, { method: 'POST', headers });
    expect(response.status).toBe(202);
    await sees('v1 one');
    await idle();
    expect(deliveries()).toEqual({ [`${namespace}/elsewhere`]: { delivered: 1 } });
  });

  test('injects faults and ends them', async () => {
    const cluster = await aCluster();
    await cluster.apply(aBroker, aTrigger('observer'), aSource('changes'));
    const { handler, sees } = observer();
    const { inject, deliveries } = await eventing(cluster, { observer: handler });
    inject({ drop: 'all' });
    await cluster.apply(aConfigMap('dropped'));
    await expect.poll(() => deliveries()[`${namespace}/observer`]?.dropped).toBe(1);
    inject({});
    await cluster.apply(aConfigMap('after'));
    await sees('add after');
  });

  test('reports events that were lost on the way to their sink', async () => {
    const cluster = await aCluster();
    const sink = { ref: { apiVersion: 'v1', kind: 'Service', name: 'refuses' } };
    await cluster.apply(aSource('changes', { sink }));
    const lost: string[] = [];
    const refuses: Handler = async () => new Response(null, { status: 500 });
    await eventing(cluster, { refuses }, { onLost: (line) => lost.push(line) });
    await cluster.apply(aConfigMap('new'));
    await expect.poll(() => lost[0]).toMatch(/default\/changes lost dev.knative.apiserver.ref.add .*configmaps\/new/);
  });

  test('says what to do where the kinds are not served', async () => {
    const api = await startApiServer({ clock: realClock });
    open.push(() => api.close());
    const starting = startEventing({ kube: clientOf(api), functions: () => undefined });
    await expect(starting).rejects.toThrow(/apply deploy\/local\/eventing\/crds first/);
  });

  test('the CRDs refuse a filter in cesql and another Broker for a Trigger', async () => {
    const { apply } = await aCluster();
    const cesql = aTrigger('sql', { filters: [{ cesql: "kind = 'ConfigMap'" }] });
    await expect(apply(cesql)).rejects.toThrow(/cesql is not supported by the local cluster/);
    await apply(aTrigger('observer'));
    await expect(apply(aTrigger('observer', { broker: 'other' }))).rejects.toThrow(/broker is immutable/);
  });
});
