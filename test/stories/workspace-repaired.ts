import { expect } from 'vitest';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import { workspaceLabel } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import type { KubernetesObject, ObjectReference, Resource } from '../../shared/kinds/resource.ts';
import { subnetName } from '../../shared/workspaces/workspace.ts';
import {
  aCluster,
  changeWorkspace,
  controlNet,
  inLab,
  labNamespace,
  listening,
  readyWorkspace,
  untilComponent,
  untilWorkspace,
  workspaceStories,
} from './workspaces.ts';
import { until, untilGone, type World } from './world.ts';

/** All that a lab without machines is made of, with the names that its parts have. */
const parts = {
  networks: [controlNet],
  volumes: [{ name: 'config', size: '1Gi' }],
  containerClusters: [aCluster('app', {}, listening)],
};

/** The label is as the lab has it again. */
async function isMended(world: World, resource: Resource, ref: ObjectReference): Promise<void> {
  const isSo = (found: KubernetesObject | undefined) => found?.metadata.labels?.[workspaceLabel] === 'lab1';
  await until(world, resource, ref, isSo);
}

const children = async ({ kube }: World): Promise<[Resource, ObjectReference][]> => {
  const [policy] = await kube.list(NetworkPolicy, { namespace: labNamespace });
  const [grant] = await kube.list(RoleBinding, { namespace: labNamespace });
  return [
    // Of its changes no event tells: whatever wakes the function next mends it.
    [NetworkAttachmentDefinition, inLab('control-net')],
    [NetworkPolicy, inLab(policy?.metadata.name ?? '')],
    [RoleBinding, inLab(grant?.metadata.name ?? '')],
    [PersistentVolumeClaim, inLab('config')],
    [Deployment, inLab('app')],
    [Service, inLab('app')],
    [Vpc, { name: labNamespace }],
    [Subnet, { name: subnetName('lab1', 'control-net') }],
    [Namespace, { name: labNamespace }],
  ];
};

export const stories = workspaceStories({
  'a label that a user changes on any part of a workspace is as it was': {
    provesPermissions: {},
    run: async (world) => {
      const { kube } = world;
      await readyWorkspace(world, 'lab1', parts);
      for (const [resource, ref] of await children(world)) {
        await kube.patch(resource, ref, { metadata: { labels: { [workspaceLabel]: 'another' } } });
      }
      for (const [resource, ref] of await children(world)) await isMended(world, resource, ref);
      const said = await kube.list(Event, { namespace: 'default' });
      expect(said).toContainEqual(expect.objectContaining({ reason: 'Ready', type: 'Normal' }));
    },
  },
  'parts that a workspace says no more are taken away, whatever they are; a volume grows no sooner than it is bound': {
    provesPermissions: {},
    run: async (world) => {
      await readyWorkspace(world, 'lab1', parts);
      await changeWorkspace(world, 'lab1', { volumes: [{ name: 'config', size: '2Gi' }] });
      // Nothing mounts it.
      await untilComponent(world, 'lab1', ['Volume', 'config'], 'Ready', 'GrowsWhenBound');
      await changeWorkspace(world, 'lab1', { networks: [], volumes: [], containerClusters: [aCluster('app')] });
      await untilGone(world, Service, inLab('app'));
      await untilGone(world, PersistentVolumeClaim, inLab('config'));
      await untilGone(world, NetworkAttachmentDefinition, inLab('control-net'));
      await untilGone(world, Subnet, { name: subnetName('lab1', 'control-net') });
      await untilGone(world, Vpc, { name: labNamespace });
      await changeWorkspace(world, 'lab1', { containerClusters: [] });
      await untilGone(world, Deployment, inLab('app'));
      expect((await untilWorkspace(world, 'lab1', 'Ready')).status?.ready).toBe('1/1');
    },
  },
});
