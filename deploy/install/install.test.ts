import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { diskImageFinalizer, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { leaseName } from '../../shared/rules/slots.ts';
import { aVMDiskImage } from '../../test/builders.ts';
import { hasKubectl } from '../../test/journeys/local-world.ts';
import { documents } from '../local/manifests.ts';
import { assertStoredVersionsStay, install } from './install.ts';
import { inventoryOf } from './inventory.ts';
import { type AnyObject, anyOf, Broker, ConfigMap, Definition, Deployment, Namespace, Trigger } from './kinds.ts';
import { partOf, readShipped, readWanted } from './manifests.ts';
import { startTestCluster, type TestCluster } from './test-cluster.ts';
import { freeObjects, uninstall } from './uninstall.ts';

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.warn('skipped: installing needs kubectl on the PATH, which renders the overlay');

const operator = { namespace: 'sync-operator' };
const policy = { ...operator, name: 'sync-operator-policy' };
const lab = { namespace: 'default' };
const options = { deleteImages: false, deleteCrds: false };

/** An image of that name that a function has put its finalizer on. */
async function anImage({ kube }: TestCluster, name: string) {
  const { apiVersion, kind, spec } = aVMDiskImage({ spec: { storageClass: 'none' } });
  const metadata = { name, ...lab, finalizers: [diskImageFinalizer] };
  await kube.create(VMDiskImage, { apiVersion, kind, metadata, spec });
  return { ...lab, name };
}

describe.skipIf(!isKubectlThere)('on a cluster', { timeout: 60_000 }, () => {
  let cluster: TestCluster;
  let wanted: AnyObject[];
  beforeEach(async () => {
    cluster = await startTestCluster();
    wanted = await readWanted('deployments', 'registry.example/ot-functions:1');
  }, 60_000);
  afterEach(() => cluster.close());

  test('all of it is up, receivers before senders', async () => {
    await install(cluster, wanted);
    const stages = cluster.lines.filter((line) => / up$/.test(line)).map((line) => line.split(':')[0]);
    expect(stages).toEqual(['definitions', 'namespace', 'permissions', 'functions', 'broker', 'triggers', 'sources']);
    const deployments = await cluster.kube.list(Deployment, operator);
    expect(deployments.map(({ metadata }) => metadata.name)).toContain('start-sync');
    expect(JSON.stringify(deployments)).toContain('"registry.example/ot-functions:1"');
  });

  test('a second time changes nothing', async () => {
    await install(cluster, wanted);
    cluster.lines.length = 0;
    await install(cluster, wanted);
    // The local API server takes the ports of a Service for changed where it has filled in a default.
    const changes = cluster.lines.filter((line) => / (made|changed|removed)$/.test(line) && !/^Service /.test(line));
    expect(changes).toEqual([]);
  });

  test("an admin's policy is left as it is", async () => {
    await cluster.kube.patch(ConfigMap, policy, { data: { concurrency: '9' } });
    await install(cluster, wanted);
    expect((await cluster.kube.get(ConfigMap, policy))?.data).toMatchObject({ concurrency: '9' });
  });

  test('an upgrade removes what is no longer wanted, and only what is ours', async () => {
    await install(cluster, wanted);
    const theirs = documents(
      `{apiVersion: v1, kind: ServiceAccount, metadata: {name: theirs, namespace: sync-operator}}`,
    );
    for (const object of theirs) await cluster.kube.create(anyOf('v1', 'ServiceAccount'), object);
    const fewer = wanted.filter(({ metadata }) => !/(^|-)preload$/.test(metadata.name));
    await install(cluster, fewer);
    const names = Object.values(await inventoryOf(cluster))
      .flat()
      .map(({ metadata }) => metadata.name);
    expect(names.filter((name) => name.includes('preload'))).toEqual([]);
    expect(names).toContain('start-sync');
    expect(await cluster.kube.get(anyOf('v1', 'ServiceAccount'), { ...operator, name: 'theirs' })).toBeDefined();
  });

  test('what never comes up is told with what keeps it', async () => {
    const [trigger] = wanted.filter(({ kind }) => kind === Trigger.kind);
    const metadata = { ...trigger?.metadata, name: 'astray' };
    const astray = { ...trigger, metadata, spec: { ...(trigger?.spec as object), broker: 'nowhere' } } as AnyObject;
    await expect(install({ ...cluster, timeoutMs: 500 }, [...wanted, astray])).rejects.toThrow(
      /expected Trigger astray to be Ready within 0.5 s, found Ready is False: BrokerDoesNotExist/,
    );
  });

  test('uninstalled, nothing of ours is left but images, which can be deleted at once', async () => {
    await install(cluster, wanted);
    const image = await anImage(cluster, 'kept');
    await uninstall(cluster, { ...options, shipped: await readShipped() });
    expect(Object.values(await inventoryOf(cluster)).flat()).toEqual([]);
    expect(await cluster.kube.get(Broker, { ...operator, name: 'default' })).toBeUndefined();
    expect(
      await cluster.kube.get(anyOf('coordination.k8s.io/v1', 'Lease'), { ...operator, name: leaseName }),
    ).toBeUndefined();
    await cluster.kube.delete(VMDiskImage, image);
    expect(await cluster.kube.get(VMDiskImage, image)).toBeUndefined();
  });

  test('uninstalled with its images, the functions take them down first; then the CRDs may go', async () => {
    await install(cluster, wanted);
    await anImage(cluster, 'gone');
    await uninstall(cluster, { deleteImages: true, deleteCrds: true, shipped: await readShipped() });
    expect(await cluster.kube.get(Definition, { name: 'vmdiskimages.pelotech.ot' })).toBeUndefined();
    const [deleted, ...later] = cluster.lines.filter((line) => /deleted$|removed$/.test(line));
    expect(deleted).toBe('vmdiskimages: 1 deleted');
    expect(later.length).toBeGreaterThan(10);
  });

  test('the CRDs do not go while images are to stay, and nothing else does', async () => {
    await install(cluster, wanted);
    await anImage(cluster, 'kept');
    await expect(uninstall(cluster, { ...options, deleteCrds: true, shipped: await readShipped() })).rejects.toThrow(
      'expected no object of ours to be left, found VMDiskImage kept in default',
    );
    expect((await inventoryOf(cluster)).sources).not.toEqual([]);
  });

  test('an image that was deleted when nobody was there to free it goes when the finalizers are taken off', async () => {
    const image = await anImage(cluster, 'stranded');
    const foreign = await anImage(cluster, 'theirs');
    await cluster.kube.patch(VMDiskImage, foreign, {
      metadata: { finalizers: ['example.com/hold', diskImageFinalizer] },
    });
    for (const { metadata } of await cluster.kube.list(Trigger)) await cluster.kube.delete(Trigger, metadata);
    for (const ref of [image, foreign]) await cluster.kube.delete(VMDiskImage, ref);
    expect(await cluster.kube.get(VMDiskImage, image)).toBeDefined();
    await freeObjects(
      cluster,
      (await readShipped()).filter(({ kind }) => kind === Definition.kind),
    );
    expect(await cluster.kube.get(VMDiskImage, image)).toBeUndefined();
    expect((await cluster.kube.get(VMDiskImage, foreign))?.metadata.finalizers).toEqual(['example.com/hold']);
  });

  describe('the namespace', () => {
    const own = async () => {
      await cluster.kube.patch(Namespace, { name: 'sync-operator' }, { metadata: { labels: partOf } });
      await cluster.kube.patch(ConfigMap, policy, { metadata: { labels: partOf } });
      await uninstall(cluster, { ...options, shipped: await readShipped() });
      return (await cluster.kube.get(Namespace, { name: 'sync-operator' })) !== undefined;
    };
    test('goes where we made it', async () => {
      expect(await own()).toBe(false);
    });
    test('stays where it holds what is not ours', async () => {
      const metadata = { ...operator, name: 'theirs' };
      await cluster.kube.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      expect(await own()).toBe(true);
      expect(cluster.lines).toContainEqual(expect.stringContaining('ConfigMap theirs'));
    });
    test('stays where somebody else made it', async () => {
      await uninstall(cluster, { ...options, shipped: await readShipped() });
      expect(await cluster.kube.get(Namespace, { name: 'sync-operator' })).toBeDefined();
    });
  });
});

test('a CRD without a version that objects are stored in is refused', () => {
  const before = { ...aCrd('v1'), status: { storedVersions: ['v1alpha1', 'v1'] } };
  expect(() => assertStoredVersionsStay(before, aCrd('v1'))).toThrow(/keep version v1alpha1.*found only v1\./);
  expect(() => assertStoredVersionsStay(undefined, aCrd('v1'))).not.toThrow();
});

const aCrd = (version: string): AnyObject =>
  Definition.parse({ metadata: { name: 'x.pelotech.ot' }, spec: { versions: [{ name: version }] } });
