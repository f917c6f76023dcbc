import { expect } from 'vitest';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from './images.ts';
import {
  aCluster,
  aMachine,
  componentOf,
  controlNet,
  createWorkspace,
  onControlNet,
  policyOf,
  untilWorkspace,
  workloadImage,
} from './workspaces.ts';
import type { Story, World } from './world.ts';

/** A lab of ten components: its Namespace, one image, and two of each other kind. */
const ofTen = (world: World) => ({
  networks: [controlNet, { name: 'capture-net', cidr: '10.10.1.0/24' }],
  volumes: [
    { name: 'config', size: '1Gi' },
    { name: 'spare', size: '1Gi' },
  ],
  vms: ['attacker', 'target'].map((name, index) =>
    aMachine(world, name, 'base', { interfaces: onControlNet(`10.10.0.${index + 11}/24`) }),
  ),
  containerClusters: ['dns', 'ansible'].map((name, index) =>
    aCluster(name, {
      interfaces: [{ network: 'capture-net', ipAddress: `10.10.1.${index + 11}/24` }],
      containers: [{ name: 'main', image: workloadImage, portMappings: [{ containerPort: 53, protocol: 'udp' }] }],
    }),
  ),
});

/** So many labs of ten components are made at once, on one image that is not there: all get Ready, on one download. */
export const crowdOfWorkspaces = (count: number, withinMs: number): Story => ({
  name: `${count} labs of ten components each, at once`,
  policy: policyOf,
  run: async (world) => {
    await putImage(world, 'base');
    const names = Array.from({ length: count }, (_, index) => `lab-${index}`);
    await Promise.all(names.map((name) => createWorkspace(world, name, ofTen(world))));
    for (const name of names) {
      const lab = await untilWorkspace(world, name, 'Ready', withinMs);
      expect(lab.status?.ready).toBe('10/10');
      expect(componentOf(lab, 'Namespace', `ws-${name}`)?.phase).toBe('Ready');
    }
    expect(await world.kube.list(VMDiskImage, { namespace: world.namespace })).toHaveLength(1);
    expect(world.history.starts()).toHaveLength(1);
  },
});
