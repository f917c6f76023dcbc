import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { type ApiServer, startApiServer } from './api-server/api-server.ts';
import { clientOf } from './client.ts';
import { realClock } from './clock.ts';
import { applyChangedManifests } from './installed-manifests.ts';

let server: ApiServer;
let kube: Kube;

beforeEach(async () => {
  server = await startApiServer({ clock: realClock });
  kube = clientOf(server);
});

afterEach(() => server.close());

const settings = (name: string, data: Record<string, string>) =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data,
  }) as unknown as KubernetesObject;

const dataOf = async (name: string) => (await kube.get(ConfigMap, { namespace: 'default', name }))?.data;

const manifests = [settings('policy', { concurrency: '4' }), settings('other', { x: '1' })];

test('what users have changed or deleted stays so when the same manifests come again', async () => {
  await applyChangedManifests(kube, manifests);
  await kube.patch(ConfigMap, { namespace: 'default', name: 'policy' }, { data: { concurrency: '1' } });
  await kube.delete(ConfigMap, { namespace: 'default', name: 'other' });
  await applyChangedManifests(kube, manifests);
  expect(await dataOf('policy')).toEqual({ concurrency: '1' });
  expect(await dataOf('other')).toBeUndefined();
});

test('a manifest that is new or says something else is applied, and no other', async () => {
  await applyChangedManifests(kube, manifests);
  await kube.patch(ConfigMap, { namespace: 'default', name: 'other' }, { data: { x: '2' } });
  await applyChangedManifests(kube, [settings('policy', { concurrency: '8' }), ...manifests.slice(1)]);
  await applyChangedManifests(kube, [settings('third', { y: '1' })]);
  expect(await dataOf('policy')).toEqual({ concurrency: '8' });
  expect(await dataOf('other')).toEqual({ x: '2' });
  expect(await dataOf('third')).toEqual({ y: '1' });
});
