import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leaseRef } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import {
  diskImageFinalizer,
  imageUidLabel,
  managedBy,
  VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { partOf } from '../../../shared/operator.ts';
import { hasKubectl } from '../../../test/stories/local-world.ts';
import { aVMDiskImage } from '../../../test/support/builders/images.ts';
import { typed } from '../../../test/support/builders/install-options.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { startTestCluster, type TestCluster } from '../../../test/support/harness/install-cluster.ts';
import { documents, readManifests } from '../../manifests.ts';
import { install } from './install.ts';
import { inventoryOf } from './inventory.ts';
import {
  type AnyObject,
  ApiServerSource,
  anyOf,
  Broker,
  ConfigMap,
  Definition,
  Deployment,
  Namespace,
  PingSource,
  Trigger,
} from './kinds.ts';
import { readShipped, readWanted } from './manifests.ts';
import { run } from './run.ts';
import { freeObjects, uninstall } from './uninstall.ts';
import { deleteAndWait, waitFor } from './wait.ts';

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.warn('skipped: installing needs kubectl on the PATH, which renders the overlay');

const operator = { namespace: 'sync-operator' };
const policy = { ...operator, name: 'sync-operator-policy' };
const lab = { namespace: 'default' };
const options = { deleteWorkspaces: false, deleteMachines: false, deleteImages: false, deleteCrds: false };

/** An image of that name with the finalizer that a function adds. */
async function anImage({ kube }: TestCluster, name: string) {
  const { apiVersion, kind, spec } = aVMDiskImage({ spec: { storageClass: 'none' } });
  const metadata = { name, ...lab, finalizers: [diskImageFinalizer] };
  await kube.create(VMDiskImage, { apiVersion, kind, metadata, spec });
  return { ...lab, name };
}

/** A machine of that name that names an image, with the finalizer that a function adds. */
async function aMachine({ kube }: TestCluster, name: string, image = 'kept') {
  const { apiVersion, kind, spec } = aVirtualMachine({ spec: { vmDiskImageRef: { ...lab, name: image } } });
  const metadata = { name, ...lab, finalizers: [imageReferenceFinalizer] };
  return kube.create(VirtualMachine, { apiVersion, kind, metadata, spec });
}

/** Whether an object exists in namespace lab. */
const isThere = async ({ kube }: TestCluster, resource: typeof VirtualMachine | typeof VMDiskImage, name: string) =>
  (await kube.get<KubernetesObject>(resource, { ...lab, name })) !== undefined;

const definitionsIn = (shipped: readonly AnyObject[]) => shipped.filter(({ kind }) => kind === Definition.kind);

describe.skipIf(!isKubectlThere)('on a cluster', { timeout: 60_000 }, () => {
  let cluster: TestCluster;
  let wanted: AnyObject[];
  beforeEach(async () => {
    cluster = await startTestCluster();
    wanted = await readWanted('deployments', 'registry.example/ot-functions:1');
  }, 60_000);
  afterEach(() => cluster.close());
  /** Uninstalls, with more than the functions. */
  const remove = async (more: Partial<typeof options> = {}, timeoutMs = cluster.timeoutMs) =>
    uninstall({ ...cluster, timeoutMs }, { ...options, ...more, shipped: await readShipped() });

  test('a second time changes nothing', async () => {
    await install(cluster, wanted);
    cluster.lines.length = 0;
    await install(cluster, wanted);
    // The local API server counts the ports of a Service as changed because it has filled in a default.
    const changes = cluster.lines.filter((line) => / (made|changed|removed)$/.test(line) && !/^Service /.test(line));
    expect(changes).toEqual([]);
  });

  test("an admin's policy is left as it is", async () => {
    await cluster.kube.patch(ConfigMap, policy, { data: { concurrency: '9' } });
    await install(cluster, wanted);
    expect((await cluster.kube.get(ConfigMap, policy))?.data).toMatchObject({ concurrency: '9' });
  });

  test('an upgrade removes only objects of ours that are no longer in the manifests', async () => {
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

  test('an upgrade without an overlay removes what it brought to namespaces of Serving, and keeps what an admin applied there', async () => {
    const policies = await readManifests('deploy/production/internal-gateway');
    for (const { metadata } of policies)
      await cluster.kube.create(Namespace, { metadata: { name: metadata.namespace } });
    const NetworkPolicy = anyOf('networking.k8s.io/v1', 'NetworkPolicy');
    const namesNow = async () =>
      (await cluster.kube.list(NetworkPolicy))
        .filter(({ metadata }) => metadata.namespace !== operator.namespace)
        .map(({ metadata }) => metadata.name);
    for (const theirs of policies)
      await cluster.kube.create(NetworkPolicy, { ...theirs, metadata: { ...theirs.metadata, name: 'theirs' } });
    await install(cluster, [...wanted, ...policies]);
    expect(await namesNow()).toHaveLength(4);
    await install(cluster, wanted);
    expect(await namesNow()).toEqual(['theirs', 'theirs']);
  });

  test('an upgrade from one Broker for all moves every Trigger, source and timer by another name, for none can be moved', async () => {
    const before = documents(`
{apiVersion: eventing.knative.dev/v1, kind: Trigger, metadata: {name: start-sync, namespace: sync-operator},
  spec: {broker: default, subscriber: {ref: {apiVersion: v1, kind: Service, name: start-sync}}}}
---
{apiVersion: sources.knative.dev/v1, kind: PingSource, metadata: {name: sweep, namespace: sync-operator},
  spec: {schedule: '*/30 * * * * *', sink: {ref: {apiVersion: eventing.knative.dev/v1, kind: Broker, name: default}}}}
`).map((object) => ({ ...object, metadata: { ...object.metadata, labels: partOf } }));
    const isInternal = ({ kind, metadata, spec }: AnyObject) =>
      /Source$/.test(kind) ||
      (kind === Broker.kind && metadata.name !== 'default') ||
      (kind === Trigger.kind && (spec as { broker: string }).broker !== 'default');
    await install(cluster, [...wanted.filter((object) => !isInternal(object)), ...before]);
    await install(cluster, wanted);
    const { triggers, sources } = await inventoryOf(cluster);
    const brokersOf = (name: string) =>
      triggers.filter(({ metadata }) => metadata.name === name).map(({ spec }) => (spec as { broker: string }).broker);
    expect(['start-sync', 'start-sync-images', 'count-refs', 'count-refs-machines'].map(brokersOf)).toEqual([
      [],
      ['images'],
      ['default'],
      ['machines'],
    ]);
    expect(sources.map(({ metadata }) => metadata.name)).toContain('images-sweep');
    expect(sources.map(({ metadata }) => metadata.name)).not.toContain('sweep');
    // Functions hear of every change meanwhile, however long a rollout takes: twice rather than never.
    const [made, ...removed] = [
      'PingSource images-sweep made',
      'PingSource sweep removed',
      'Trigger start-sync removed',
    ];
    expect(cluster.lines.filter((line) => line === made || removed.includes(line))).toEqual([made, ...removed]);
  });

  test('what changed while nothing delivered is looked at once everything is up, and not ten minutes later', async () => {
    for (const { metadata } of await cluster.kube.list(ApiServerSource, operator))
      await deleteAndWait(cluster, ApiServerSource, metadata);
    const { apiVersion, kind, spec } = aVirtualMachine();
    await cluster.kube.create(VirtualMachine, { apiVersion, kind, metadata: { name: 'unheard', ...lab }, spec });
    await install(cluster, wanted);
    // Only an event of it or an audit has count-refs look at a machine.
    const isHeld = (machine: VirtualMachine | undefined) =>
      machine?.metadata.finalizers?.includes(imageReferenceFinalizer) === true;
    expect(await waitFor(cluster, VirtualMachine, { ...lab, name: 'unheard' }, isHeld)).toMatchObject({
      isLate: false,
    });
    for (const { metadata, spec } of wanted.filter(({ kind }) => kind === PingSource.kind))
      expect(await cluster.kube.get(PingSource, metadata)).toMatchObject({ spec });
  });

  test('an object that does not become ready is reported with the reason', async () => {
    const [trigger] = wanted.filter(({ kind }) => kind === Trigger.kind);
    const metadata = { ...trigger?.metadata, name: 'astray' };
    const astray = { ...trigger, metadata, spec: { ...(trigger?.spec as object), broker: 'nowhere' } } as AnyObject;
    await expect(install({ ...cluster, timeoutMs: 500 }, [...wanted, astray])).rejects.toThrow(
      /expected Trigger astray to be Ready within 0.5 s, found Ready is False: BrokerDoesNotExist/,
    );
  });

  test('after an uninstall only images are left, and can be deleted immediately', async () => {
    await install(cluster, wanted);
    const image = await anImage(cluster, 'kept');
    await remove();
    expect(Object.values(await inventoryOf(cluster)).flat()).toEqual([]);
    expect(await cluster.kube.get(Broker, { ...operator, name: 'default' })).toBeUndefined();
    expect(await cluster.kube.get(anyOf('coordination.k8s.io/v1', 'Lease'), leaseRef)).toBeUndefined();
    await cluster.kube.delete(VMDiskImage, image);
    expect(await cluster.kube.get(VMDiskImage, image)).toBeUndefined();
  });

  test('uninstalled with its images, the functions delete these first; then the CRDs can be deleted', async () => {
    await install(cluster, wanted);
    await anImage(cluster, 'gone');
    await remove({ deleteImages: true, deleteCrds: true });
    expect(await cluster.kube.get(Definition, { name: 'vmdiskimages.pelotech.ot' })).toBeUndefined();
    const [deleted, ...later] = cluster.lines.filter((line) => /deleted$|removed$/.test(line));
    expect(deleted).toBe('vmdiskimages: 1 deleted');
    expect(later.length).toBeGreaterThan(10);
  });

  test('the CRDs are not deleted while images stay, nor is anything else', async () => {
    await install(cluster, wanted);
    await anImage(cluster, 'kept');
    await expect(remove({ deleteCrds: true })).rejects.toThrow(
      'expected no object of ours to be left, found VMDiskImage kept in default',
    );
    expect((await inventoryOf(cluster)).sources).not.toEqual([]);
  });

  test('an image that was deleted without functions disappears when the finalizers are removed', async () => {
    const image = await anImage(cluster, 'stranded');
    const foreign = await anImage(cluster, 'theirs');
    await cluster.kube.patch(VMDiskImage, foreign, {
      metadata: { finalizers: ['example.com/hold', diskImageFinalizer] },
    });
    for (const { metadata } of await cluster.kube.list(Trigger)) await cluster.kube.delete(Trigger, metadata);
    for (const ref of [image, foreign]) await cluster.kube.delete(VMDiskImage, ref);
    expect(await cluster.kube.get(VMDiskImage, image)).toBeDefined();
    await freeObjects(cluster, definitionsIn(await readShipped()));
    expect(await cluster.kube.get(VMDiskImage, image)).toBeUndefined();
    expect((await cluster.kube.get(VMDiskImage, foreign))?.metadata.finalizers).toEqual(['example.com/hold']);
  });

  describe('a workspace', () => {
    const aLab = (name: string) =>
      cluster.kube.create(Workspace, {
        apiVersion: Workspace.apiVersion,
        kind: Workspace.kind,
        metadata: { name },
        spec: { volumes: [{ name: 'data', size: '1Gi' }] },
      });
    const isMade = async (name: string) => {
      const { isLate } = await waitFor(
        cluster,
        PersistentVolumeClaim,
        { namespace: `ws-${name}`, name: 'data' },
        (found) => !!found,
      );
      expect(isLate).toBe(false);
    };

    test('keeps everything where it is, whatever else is to go', async () => {
      await install(cluster, wanted);
      await aLab('one');
      await aLab('two');
      for (const more of [{}, { deleteImages: true, deleteMachines: true }])
        await expect(remove(more)).rejects.toThrow(
          /expected no workspace, found Workspace one and 1 more.*add --delete-workspaces/,
        );
      expect((await inventoryOf(cluster)).sources).not.toEqual([]);
      expect(await cluster.kube.list(Workspace)).toHaveLength(2);
    });

    test('that may be deleted is deleted first, with a message at each step', async () => {
      await install(cluster, wanted);
      await aLab('one');
      await aLab('two');
      await Promise.all(['one', 'two'].map(isMade));
      await remove({ deleteWorkspaces: true, deleteCrds: true });
      const said = cluster.lines.filter((line) => /workspace/i.test(line));
      expect(said).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^Workspace one: The workspace is being deleted: /),
          expect.stringMatching(/^Workspace (one|two) is deleted \(2\/2\)$/),
          'workspaces: 2 deleted',
        ]),
      );
      expect(await cluster.kube.get(Namespace, { name: 'ws-one' })).toBeUndefined();
      expect(await cluster.kube.get(Definition, { name: 'workspaces.pelotech.ot' })).toBeUndefined();
    });

    test('that makes no progress is named with what blocks it, and nothing else is removed', async () => {
      await install(cluster, wanted);
      await aLab('stuck');
      await isMade('stuck');
      const claim = { namespace: 'ws-stuck', name: 'data' };
      await cluster.kube.patch(PersistentVolumeClaim, claim, { metadata: { finalizers: ['example.com/hold'] } });
      await expect(remove({ deleteWorkspaces: true }, 2_000)).rejects.toThrow(
        /Workspace stuck \(The workspace is being deleted: .*held by example.com\/hold/,
      );
      expect((await inventoryOf(cluster)).sources).not.toEqual([]);
      await cluster.kube.patch(PersistentVolumeClaim, claim, { metadata: { finalizers: null } });
      await remove({ deleteWorkspaces: true });
      expect(await cluster.kube.list(Workspace)).toEqual([]);
    });
  });

  test('if no function is left, the snapshots of deleted images are deleted, and no other snapshot', async () => {
    const { uid } = (await cluster.kube.get(VMDiskImage, await anImage(cluster, 'gone')))?.metadata ?? {};
    const golden = { ...lab, name: 'golden' };
    const spec = { source: { persistentVolumeClaimName: 'x' } };
    const labels = { ...managedBy, [imageUidLabel]: uid };
    await cluster.kube.create(VolumeSnapshot, { metadata: { ...lab, name: 'gone-r1', labels }, spec });
    await cluster.kube.create(VolumeSnapshot, { metadata: golden, spec });
    await remove({ deleteImages: true });
    expect((await cluster.kube.list(VolumeSnapshot)).map(({ metadata }) => metadata.name)).toEqual(['golden']);
  });

  test('objects on OpenStack must be deleted first: without functions they would stay', async () => {
    await install(cluster, wanted);
    await cluster.kube.create(Volume, { metadata: { name: 'disk', namespace: 'default' }, spec: { size: '1Gi' } });
    await expect(remove()).rejects.toThrow(
      /found Volume disk in default.*kubectl delete virtualmachines\.kupenstack\.io,/,
    );
    expect((await inventoryOf(cluster)).sources).not.toEqual([]);
  });

  describe('a machine', () => {
    test('stays where only images are to go, and so does everything else', async () => {
      await install(cluster, wanted);
      await anImage(cluster, 'kept');
      await aMachine(cluster, 'vm');
      await expect(remove({ deleteImages: true })).rejects.toThrow(
        /found VirtualMachine vm in default.*add --delete-machines, or leave out --delete-images/,
      );
      expect(await isThere(cluster, VirtualMachine, 'vm')).toBe(true);
      expect(await isThere(cluster, VMDiskImage, 'kept')).toBe(true);
      expect((await inventoryOf(cluster)).sources).not.toEqual([]);
    });

    test('keeps the CRDs where they are', async () => {
      await aMachine(cluster, 'vm');
      await expect(remove({ deleteCrds: true })).rejects.toThrow(
        /found VirtualMachine vm in default.*add --delete-machines, or leave out --delete-crds/,
      );
    });

    test('is deleted before the image that it uses, with its disk and its KubeVirt objects; then the CRDs can be deleted', async () => {
      await install(cluster, wanted);
      await anImage(cluster, 'gone');
      const { metadata } = await aMachine(cluster, 'vm', 'gone');
      const { uid, name } = metadata;
      const { apiVersion, kind } = VirtualMachine;
      const ownerReferences = [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: false }];
      const child = { name, ...lab, labels: managedBy, ownerReferences, finalizers: ['kubevirt.io/simulated'] };
      const { apiVersion: version } = KubeVirtMachine;
      await cluster.kube.create(KubeVirtMachine, {
        apiVersion: version,
        kind: KubeVirtMachine.kind,
        metadata: child,
        spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
      });
      const all = { deleteMachines: true, deleteImages: true, deleteCrds: true };
      await expect(remove(all, 2_000)).rejects.toThrow(
        /the objects created for virtualmachines to be deleted within 2 s, found 1 left: VirtualMachine vm in default .finalizers: kubevirt.io\/simulated/,
      );
      expect(
        (await cluster.kube.get(VMDiskImage, { ...lab, name: 'gone' }))?.metadata.deletionTimestamp,
      ).toBeUndefined();
      await cluster.kube.patch(KubeVirtMachine, child, { metadata: { finalizers: null } });
      await remove(all);
      expect(await cluster.kube.list(Definition)).not.toContainEqual(
        expect.objectContaining({
          metadata: expect.objectContaining({ name: expect.stringMatching(/pelotech\.ot$/) }),
        }),
      );
      expect(cluster.lines).toContain('vmdiskimages: 1 deleted');
    });

    test('alone can be deleted: its image stays', async () => {
      await install(cluster, wanted);
      await anImage(cluster, 'kept');
      await aMachine(cluster, 'vm');
      await remove({ deleteMachines: true });
      expect(await isThere(cluster, VirtualMachine, 'vm')).toBe(false);
      expect(await isThere(cluster, VMDiskImage, 'kept')).toBe(true);
    });

    test('that stays is reported, blocks nothing, and can be deleted immediately', async () => {
      await install(cluster, wanted);
      await anImage(cluster, 'kept');
      await aMachine(cluster, 'vm');
      await aMachine(cluster, 'other');
      await remove();
      expect(cluster.lines).toContainEqual(expect.stringMatching(/^2 machines stay/));
      await cluster.kube.delete(VirtualMachine, { ...lab, name: 'vm' });
      expect(await isThere(cluster, VirtualMachine, 'vm')).toBe(false);
      await cluster.kube.delete(VMDiskImage, { ...lab, name: 'kept' });
      expect(await isThere(cluster, VMDiskImage, 'kept')).toBe(false);
    });

    test('and its namespace that were deleted without functions are released', async () => {
      const namespace = 'stranded';
      await cluster.kube.create(Namespace, { metadata: { name: namespace } });
      for (const { metadata } of await cluster.kube.list(Trigger)) await cluster.kube.delete(Trigger, metadata);
      const { apiVersion, kind, spec } = aVirtualMachine();
      const metadata = { name: 'vm', namespace, finalizers: [imageReferenceFinalizer] };
      await cluster.kube.create(VirtualMachine, { apiVersion, kind, metadata, spec });
      await cluster.kube.delete(Namespace, { name: namespace });
      expect(await cluster.kube.get(Namespace, { name: namespace })).toBeDefined();
      await freeObjects(cluster, definitionsIn(await readShipped()));
      const { isLate } = await waitFor(cluster, Namespace, { name: namespace }, (found) => found === undefined);
      expect(isLate).toBe(false);
    });
  });

  test('the disk of a machine is no running download', async () => {
    const spec = {
      source: { blank: {} },
      storage: { resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' },
    };
    const { apiVersion, kind } = DataVolume;
    await cluster.kube.create(DataVolume, {
      apiVersion,
      kind,
      metadata: { name: 'vm-root', ...lab, labels: managedBy },
      spec,
    });
    await remove();
    expect(cluster.lines.filter((line) => line.includes('go on'))).toEqual([]);
  });

  describe('without KubeVirt', () => {
    beforeEach(async () => {
      for (const plural of ['virtualmachines', 'virtualmachineinstances'])
        await cluster.kube.delete(Definition, { name: `${plural}.kubevirt.io` });
    });
    const upgrade = () => run(cluster, typed('upgrade', '--overlay', 'deployments', '--image', 'registry.example/f:1'));
    const machineParts = async () =>
      Object.values(await inventoryOf(cluster))
        .flat()
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
        .filter((name) => /provision-vm|kubevirt|machines-cdi/.test(name));

    test('images are installed, and the functions for KubeVirt machines are skipped with a message', async () => {
      expect(await upgrade()).toMatchObject({ code: 0 });
      expect(await machineParts()).toEqual([]);
      expect(cluster.lines).toContainEqual(
        expect.stringMatching(/^KubeVirt is missing: machines are left out \(.*provision-vm/),
      );
      const names = (await cluster.kube.list(Deployment, operator)).map(({ metadata }) => metadata.name);
      expect(names).toEqual(expect.arrayContaining(['start-sync', 'count-refs', 'ensure-vmdi']));
      expect(await cluster.kube.get(Definition, { name: 'virtualmachines.pelotech.ot' })).toBeDefined();
    });

    test('that is installed later, an upgrade adds the machines; after its removal, an upgrade removes them', async () => {
      await upgrade();
      const kubeVirt = (await readManifests('deploy/local/crds')).filter(({ metadata }) =>
        /\.kubevirt\.io$/.test(metadata.name),
      );
      for (const definition of kubeVirt)
        await cluster.kube.apply(Definition, definition, { fieldManager: 'kubevirt', force: true });
      await upgrade();
      expect(await machineParts()).toEqual(
        expect.arrayContaining([
          'ApiServerSource machines-kubevirt',
          'ApiServerSource machines-cdi',
          'Deployment provision-vm',
          'Trigger provision-vm-machines',
        ]),
      );
      for (const plural of ['virtualmachines', 'virtualmachineinstances'])
        await cluster.kube.delete(Definition, { name: `${plural}.kubevirt.io` });
      await upgrade();
      expect(await machineParts()).toEqual([]);
    });
  });

  test('without kube-ovn its source is skipped with a message, but compose-workspace is installed', async () => {
    for (const plural of ['subnets', 'vpcs']) await cluster.kube.delete(Definition, { name: `${plural}.kubeovn.io` });
    const options = typed('upgrade', '--overlay', 'deployments', '--image', 'registry.example/f:1');
    expect(await run(cluster, options)).toMatchObject({ code: 0 });
    const { sources, functions } = await inventoryOf(cluster);
    expect(sources.map(({ metadata }) => metadata.name)).not.toContain('workspaces-kube-ovn');
    expect(functions.map(({ metadata }) => metadata.name)).toContain('compose-workspace');
    expect(cluster.lines).toContainEqual(
      expect.stringMatching(/^kube-ovn is missing: networks of workspaces .*ApiServerSource workspaces-kube-ovn/),
    );
  });

  describe('the namespace', () => {
    const own = async () => {
      await cluster.kube.patch(Namespace, { name: 'sync-operator' }, { metadata: { labels: partOf } });
      await cluster.kube.patch(ConfigMap, policy, { metadata: { labels: partOf } });
      await remove();
      return (await cluster.kube.get(Namespace, { name: 'sync-operator' })) !== undefined;
    };
    test('is deleted if the installer created it', async () => {
      expect(await own()).toBe(false);
    });
    test('stays if it contains objects of others', async () => {
      const metadata = { ...operator, name: 'theirs' };
      await cluster.kube.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      expect(await own()).toBe(true);
      expect(cluster.lines).toContainEqual(expect.stringContaining('ConfigMap theirs'));
    });
    test('stays if another user created it', async () => {
      await remove();
      expect(await cluster.kube.get(Namespace, { name: 'sync-operator' })).toBeDefined();
    });
  });
});
