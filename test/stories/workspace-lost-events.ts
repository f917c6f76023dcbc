import { expect } from 'vitest';
import { createSiteKey } from '../../deploy/keys.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { Job } from '../../shared/kinds/batch/job.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { putImage } from './images.ts';
import { dropsAllButTimers } from './subscriptions.ts';
import {
  aCluster,
  aMachine,
  controlNet,
  deleteWorkspace,
  inLab,
  labNamespace,
  listening,
  onControlNet,
  readyWorkspace,
  untilWorkspace,
  workloadImage,
  workspaceStories,
} from './workspaces.ts';
import { comesBack, type World } from './world.ts';

/** Of each kind the lab has one at least. */
const kinds: readonly Resource[] = [
  Deployment,
  Service,
  Job,
  ConfigMap,
  Secret,
  NetworkPolicy,
  NetworkAttachmentDefinition,
  PersistentVolumeClaim,
  VirtualMachine,
  RoleBinding,
];

/** Deletes the first object of the kind that is the lab's, and waits for its successor. */
async function oneComesBack({ kube }: World, resource: Resource, within: object): Promise<void> {
  const found: readonly KubernetesObject[] = await kube.list(resource, within);
  const ours = found.find(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === 'Workspace'));
  if (!ours) throw new Error(`expected a ${resource.kind} of the workspace, found none among ${found.length}`);
  const { name, namespace: of } = ours.metadata;
  await comesBack({ kube }, resource, { name, ...(of === undefined ? {} : { namespace: of }) });
}

export const stories = workspaceStories({
  'with every event dropped the audit alone brings back whatever is deleted of a workspace, and takes the workspace down':
    {
      localOnly: 'a real Broker drops nothing on demand',
      local: dropsAllButTimers,
      policy: { ansibleRunnerImage: workloadImage, ansibleCredentials: 'true' },
      run: async (world) => {
        const { kube } = world;
        await createSiteKey(kube);
        await putImage(world, 'base');
        await readyWorkspace(world, 'lab1', {
          networks: [controlNet, { name: 'unused-net', cidr: '10.10.1.0/24' }],
          volumes: [{ name: 'config', size: '1Gi' }],
          vms: [
            aMachine(world, 'vm', 'base', {
              interfaces: onControlNet('10.10.0.161/24'),
              ansible: { roles: { deploy: [{ role: 'router' }] } },
            }),
          ],
          containerClusters: [aCluster('app', { interfaces: onControlNet('10.10.0.141/24') }, listening)],
        });
        for (const resource of kinds) await oneComesBack(world, resource, { namespace: labNamespace });
        await untilWorkspace(world, 'lab1', 'Ready');
        const unused = (await kube.list(Subnet)).find(({ metadata }) => metadata.name.startsWith('ws-lab1-unused'));
        await comesBack(world, Subnet, { name: unused?.metadata.name ?? '' });
        await untilWorkspace(world, 'lab1', 'Ready');
        await comesBack(world, Namespace, { name: labNamespace });
        await untilWorkspace(world, 'lab1', 'Ready');
        await deleteWorkspace(world, 'lab1');
        expect(await kube.get(Vpc, { name: labNamespace })).toBeUndefined();
      },
    },
  'with every event delivered twice and late a workspace gets Ready, is changed, and goes': {
    localOnly: 'a real Broker repeats nothing on demand',
    local: { faults: { duplicate: 'all', reorder: { seed: 11, withinMs: 100 } } },
    run: async (world) => {
      await putImage(world, 'base');
      await readyWorkspace(world, 'lab1', {
        networks: [controlNet],
        vms: [aMachine(world, 'vm', 'base')],
        containerClusters: [aCluster('app')],
      });
      await comesBack(world, Deployment, inLab('app'));
      await deleteWorkspace(world, 'lab1');
    },
  },
});
