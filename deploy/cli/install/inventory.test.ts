import { expect, test } from 'vitest';
import type { Cluster } from './cluster.ts';
import { type AnyObject, Broker, Deployment } from './kinds.ts';
import { overlayOf } from './overlay.ts';
import { imageOf } from './run.ts';

/** A cluster of these objects, and the kinds of which someone listed the objects. */
function clusterOf(...objects: AnyObject[]) {
  const listed: string[] = [];
  const list = async ({ apiVersion, kind }: AnyObject) => {
    listed.push(kind);
    return objects.filter((one) => one.apiVersion === apiVersion && one.kind === kind);
  };
  return { listed, cluster: { kube: { list } } as unknown as Cluster };
}

const metadata = { name: 'default', namespace: 'sync-operator' };

test('the overlay is read from the Broker that records it, and from nothing else', async () => {
  const { cluster, listed } = clusterOf(
    Broker.parse({ metadata: { ...metadata, annotations: { 'pelotech.ot/overlay': 'serving' } } }),
  );
  expect(await overlayOf(cluster)).toBe('serving');
  expect(listed).toEqual(['Broker']);
});

test('the image that runs is read from what runs functions, and from nothing else', async () => {
  const template = { spec: { containers: [{ image: 'registry.example/f:1' }] } };
  const { cluster, listed } = clusterOf(Deployment.parse({ metadata, spec: { template } }));
  expect(await imageOf(cluster)).toBe('registry.example/f:1');
  expect(listed).toEqual(['Service', 'Deployment']);
});
