import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { defineResource, type KubernetesObject } from '../../../shared/kinds/resource.ts';
import { type Kube, kubeClient } from '../../../shared/runtime/kube.ts';
import { realClock } from '../clock.ts';
import { CustomResourceDefinition } from '../controller/kinds.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import type { ApiObject } from './objects.ts';
import { openStoreFile, type StoreFile } from './store-file.ts';

const Widget = defineResource({ apiVersion: 'example.com/v1', kind: 'Widget', plural: 'widgets' }, {});

let folder: string;
let file: StoreFile;
let server: ApiServer;
/** A kubeconfig that was written once, when the server was first started. */
let kubeconfig: string;
let kube: Kube;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-restart-'));
  file = openStoreFile(join(folder, 'cluster.sqlite'));
  server = await startApiServer({ clock: realClock, file });
  kubeconfig = server.kubeconfig();
  kube = clientOf(kubeconfig);
});

afterEach(async () => {
  await server.close();
  file.close();
  await rm(folder, { recursive: true });
});

function clientOf(text: string): Kube {
  const config = new KubeConfig();
  config.loadFromString(text);
  return kubeClient(config);
}

/** Ends the server as it is, nothing closed in order, and starts another on what it left and on its port. */
async function restart() {
  const { port } = server;
  const left = file;
  await server.close();
  file = openStoreFile(join(folder, 'cluster.sqlite'));
  server = await startApiServer({ clock: realClock, file, port });
  left.close();
  // Another client, since one of this process holds connections for later that have just been cut.
  kube = clientOf(kubeconfig);
}

const aConfigMap = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data: { of: name },
});

const find = (name: string) => kube.get(ConfigMap, { namespace: 'default', name });

test('objects are the same after a restart, to a client with the kubeconfig from before', async () => {
  await kube.apply(ConfigMap, aConfigMap('plain'), { fieldManager: 'a-manager' });
  await kube.create(ConfigMap, aConfigMap('held', { finalizers: ['example.com/hold'] }));
  await kube.delete(ConfigMap, { namespace: 'default', name: 'held' });
  const before = [await find('plain'), await find('held')];
  await restart();
  expect([await find('plain'), await find('held')]).toEqual(before);
  expect(before[0]?.metadata).toMatchObject({ managedFields: [{ manager: 'a-manager', operation: 'Apply' }] });
  expect(before[1]?.metadata.deletionTimestamp).toBeDefined();
});

test('a token from before names the same ServiceAccount, and a token of another cluster has no user', async () => {
  const account = { namespace: 'default', name: 'robot' };
  const token = server.tokenFor(account);
  await restart();
  expect(server.tokenFor(account)).toBe(token);
  const forbidden = /User "system:serviceaccount:default:robot" cannot get/;
  await expect(clientOf(server.kubeconfig(token)).get(ConfigMap, { namespace: 'default', name: 'x' })).rejects.toThrow(
    forbidden,
  );
  const other = await startApiServer({ clock: realClock });
  const foreign = clientOf(server.kubeconfig(other.tokenFor(account)));
  await expect(foreign.get(ConfigMap, { namespace: 'default', name: 'x' })).rejects.toMatchObject({ status: 401 });
  await other.close();
});

test('a watch from before the restart is answered 410, one from after it hears what happens', async () => {
  const { metadata } = await kube.create(ConfigMap, aConfigMap('a'));
  await restart();
  const never = new AbortController();
  await expect(
    kube.watch(ConfigMap, { resourceVersion: metadata.resourceVersion, signal: never.signal }, () => {}),
  ).rejects.toMatchObject({ status: 410 });
  const [page] = await Array.fromAsync(kube.pages(ConfigMap));
  const heard: string[] = [];
  const watching = kube.watch(
    ConfigMap,
    { resourceVersion: page?.resourceVersion ?? '', signal: never.signal },
    ({ object }) => {
      heard.push(object.metadata.name);
      never.abort();
    },
  );
  await kube.create(ConfigMap, aConfigMap('b'));
  await watching;
  expect(heard).toEqual(['b']);
});

test('kinds that were defined are served, with their defaults and rules', async () => {
  const schema = { type: 'object', properties: { size: { type: 'integer', default: 3, maximum: 5 } } };
  await kube.create(CustomResourceDefinition, {
    apiVersion: CustomResourceDefinition.apiVersion,
    kind: CustomResourceDefinition.kind,
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  await restart();
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } };
  expect(await kube.create(Widget, widget as KubernetesObject)).toMatchObject({ size: 3 });
  await expect(
    kube.create(Widget, {
      ...widget,
      metadata: { ...widget.metadata, name: 'x' },
      size: 9,
    } as unknown as KubernetesObject),
  ).rejects.toMatchObject({ status: 422 });
});

test('what the server had promised and not yet done is done', async () => {
  const owner = await kube.create(ConfigMap, aConfigMap('owner'));
  const { apiVersion, kind } = ConfigMap;
  const ownerReferences = [{ apiVersion, kind, name: 'owner', uid: owner.metadata.uid }];
  await kube.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } });
  await kube.create(ConfigMap, aConfigMap('inside', { namespace: 'going', finalizers: ['example.com/hold'] }));
  await kube.create(ConfigMap, aConfigMap('dependent', { ownerReferences }));
  await kube.delete(Namespace, { name: 'going' });
  await expect
    .poll(async () => (await kube.get(ConfigMap, { namespace: 'going', name: 'inside' }))?.metadata.deletionTimestamp)
    .toBeDefined();
  // As if the process had been killed between the two deletions that follow from each other.
  await server.close();
  file.remove('/configmaps', owner as unknown as ApiObject, 1);
  await restart();
  await expect.poll(() => find('dependent')).toBeUndefined();
  await kube.patch(ConfigMap, { namespace: 'going', name: 'inside' }, { metadata: { finalizers: null } });
  await expect.poll(() => kube.get(Namespace, { name: 'going' })).toBeUndefined();
});
