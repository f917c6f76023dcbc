import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leaseRef } from '../../../shared/images/slots.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { partOf } from '../../../shared/operator.ts';
import { hasKubectl } from '../../../test/stories/local-world.ts';
import { aVMDiskImage } from '../../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { startTestCluster, type TestCluster } from '../../../test/support/harness/install-cluster.ts';
import { hookPermissions } from '../../production/helm-hooks.ts';
import type { Cluster } from './cluster.ts';
import { clusterOf } from './connect.ts';
import { afterUpgrade, assertReady, beforeDelete } from './hooks.ts';
import { install } from './install.ts';
import { inventoryOf } from './inventory.ts';
import { type AnyObject, anyOf, Definition, InMemoryChannel, resourceOf, Trigger } from './kinds.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import { readWanted } from './manifests.ts';
import { waitFor } from './wait.ts';

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.warn('skipped: installing needs kubectl on the PATH, which renders the overlay');

const lab = { namespace: 'default' };
const Lease = anyOf('coordination.k8s.io/v1', 'Lease');

describe.skipIf(!isKubectlThere)(
  'the hooks of the Helm chart, with the rights that it gives them',
  {
    timeout: 60_000,
  },
  () => {
    let cluster: TestCluster;
    let asHook: Cluster;
    let folder: string;
    beforeEach(async () => {
      cluster = await startTestCluster();
      await install(cluster, await readWanted('deployments', 'registry.example/ot-functions:1'));
      for (const object of hookPermissions as unknown as AnyObject[])
        await cluster.kube.create(resourceOf(object), object);
      folder = await mkdtemp(join(tmpdir(), 'ot-hooks-'));
      const kubeconfig = join(folder, 'kubeconfig');
      await writeFile(kubeconfig, cluster.kubeconfig);
      const config = kubeconfigOf({
        kubeconfig,
        context: undefined,
        as: 'system:serviceaccount:sync-operator:helm-hooks',
        asGroups: [],
      });
      asHook = clusterOf(config, { say: cluster.say, timeoutMs: 10_000 });
    }, 60_000);
    afterEach(async () => {
      await cluster.close();
      await rm(folder, { recursive: true });
    });

    test('before it is deleted nothing is left that works or hangs; what Helm deletes itself is still there', async () => {
      const image = aVMDiskImage({ spec: { storageClass: 'none' } });
      const machine = aVirtualMachine({ spec: { vmDiskImageRef: { ...lab, name: 'kept' } } });
      const of = ({ apiVersion, kind, spec }: AnyObject, name: string, finalizer: string) => ({
        ...{ apiVersion, kind, spec },
        metadata: { ...lab, name, finalizers: [finalizer] },
      });
      await cluster.kube.create(VMDiskImage, of(image, 'kept', diskImageFinalizer));
      await cluster.kube.create(VirtualMachine, of(machine, 'vm', imageReferenceFinalizer));
      await waitFor(cluster, Lease, leaseRef, (lease) => lease !== undefined);
      await beforeDelete(asHook);
      expect(await cluster.kube.get(Lease, leaseRef)).toBeUndefined();
      const { sources, triggers, functions, broker, permissions } = await inventoryOf(cluster);
      expect([...sources, ...triggers, ...functions.filter(({ kind }) => kind === 'Deployment')]).toEqual([]);
      expect(broker.length).toBeGreaterThan(0);
      expect(permissions.length).toBeGreaterThan(0);
      for (const [resource, name] of [
        [VirtualMachine, 'vm'],
        [VMDiskImage, 'kept'],
      ] as const) {
        await cluster.kube.delete(resource, { ...lab, name });
        expect(await cluster.kube.get<AnyObject>(resource, { ...lab, name })).toBeUndefined();
      }
      // Helm tries again after a failure.
      await beforeDelete(asHook);
    });

    test('helm test waits until all is Ready, and names what is not', async () => {
      await assertReady(asHook);
      expect(cluster.lines.at(-1)).toMatch(/^\d+ Brokers, 10 functions, \d+ Triggers and \d+ sources are ready$/);
      const astray = { namespace: 'sync-operator', name: 'astray', labels: partOf };
      const subscriber = { uri: 'http://127.0.0.1:1/' };
      await cluster.kube.create(Trigger, { metadata: astray, spec: { broker: 'nowhere', subscriber } });
      await expect(assertReady({ ...asHook, timeoutMs: 300 })).rejects.toThrow(
        /expected Trigger astray to be Ready within 0.3 s, found Ready is False: BrokerDoesNotExist/,
      );
    });

    test('it is not deleted while a workspace exists, which no function would delete', async () => {
      await cluster.kube.create(Workspace, {
        apiVersion: Workspace.apiVersion,
        kind: Workspace.kind,
        metadata: { name: 'lab-7' },
        spec: { volumes: [{ name: 'data', size: '1Gi' }] },
      });
      await expect(beforeDelete(asHook)).rejects.toThrow('expected no workspace, found Workspace lab-7');
      const { sources, triggers } = await inventoryOf(cluster);
      expect(sources.length * triggers.length).toBeGreaterThan(0);
    });

    test('after an upgrade a channel with a subscriber that no Trigger has is deleted, for Knative to make it again', async () => {
      const names = { kind: 'InMemoryChannel', plural: 'inmemorychannels', singular: 'inmemorychannel' };
      const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
      await cluster.kube.create(Definition, {
        metadata: { name: 'inmemorychannels.messaging.knative.dev' },
        spec: {
          group: 'messaging.knative.dev',
          names: { ...names, listKind: 'InMemoryChannelList' },
          scope: 'Namespaced',
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      });
      const channel = { namespace: 'sync-operator', name: 'images-kne-trigger' };
      await waitFor(cluster, Definition, { name: 'inmemorychannels.messaging.knative.dev' }, isEstablished);
      await cluster.kube.create(InMemoryChannel, { metadata: channel, spec: { subscribers: [{ uid: 'dead' }] } });
      await afterUpgrade({ ...asHook, timeoutMs: 300 });
      expect(cluster.lines).toContainEqual(expect.stringMatching(/images-kne-trigger keeps 1 dead subscribers/));
      expect(await cluster.kube.get(InMemoryChannel, channel)).toBeUndefined();
    });
  },
);

const isEstablished = (definition: AnyObject | undefined) =>
  ((definition?.status ?? {}) as { conditions?: { type: string; status: string }[] }).conditions?.some(
    ({ type, status }) => type === 'Established' && status === 'True',
  ) ?? false;
