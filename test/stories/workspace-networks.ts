import { expect } from 'vitest';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { putImage } from './images.ts';
import {
  aCluster,
  aLab,
  componentOf,
  conditionIn,
  controlNet,
  createWorkspace,
  deleteWorkspace,
  inLab,
  labNamespace,
  onControlNet,
  readyWorkspace,
  untilWorkspace,
  workspaceStories,
} from './workspaces.ts';
import { comesBack, setPolicy, untilGone, type World } from './world.ts';

const configsOf = async ({ kube }: World) =>
  (await kube.list(NetworkAttachmentDefinition, { namespace: labNamespace }))
    .map(({ metadata, spec }) => ({
      name: metadata.name,
      ...(JSON.parse(spec?.config ?? '{}') as { bridge?: string }),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

export const stories = workspaceStories({
  'networks on bridges: two definitions on one bridge for machines and containers, which stay when the policy changes':
    {
      policy: { networkProvider: 'bridge' },
      run: async (world) => {
        const { kube } = world;
        await putImage(world, 'base');
        const lab = await readyWorkspace(world, 'lab1', aLab(world));
        expect(lab.status?.networkProvider).toBe('bridge');
        expect(componentOf(lab, 'Network', controlNet.name)?.phase).toBe('Ready');
        const configs = await configsOf(world);
        expect(configs).toMatchObject([
          { name: 'control-net', type: 'bridge', disableContainerInterface: true },
          { name: 'control-net-ip', type: 'bridge', ipam: { type: 'static' } },
        ]);
        expect(new Set(configs.map(({ bridge }) => bridge)).size).toBe(1);
        expect(configs[0]?.bridge?.length).toBeLessThanOrEqual(15);
        const deployment = await kube.get(Deployment, inLab('app'));
        expect(JSON.stringify(deployment?.spec)).toContain('10.10.0.141/24');
        expect(
          [...(await kube.list(Vpc)), ...(await kube.list(Subnet))].filter(({ metadata }) =>
            metadata.name.includes('lab1'),
          ),
        ).toEqual([]);
        // What is on it would lose its addresses.
        await setPolicy(world, { networkProvider: 'kube-ovn' });
        await comesBack(world, NetworkAttachmentDefinition, inLab('control-net-ip'));
        expect(await configsOf(world)).toEqual(configs);
        await deleteWorkspace(world, 'lab1');
        await untilGone(world, NetworkAttachmentDefinition, inLab('control-net'));
      },
    },
  'a container without an address on a bridge, which gives none: the workspace reports it and begins nothing': {
    policy: { networkProvider: 'bridge' },
    run: async (world) => {
      await createWorkspace(world, 'lab1', {
        networks: [controlNet],
        containerClusters: [aCluster('app', { interfaces: onControlNet() })],
      });
      const failed = await untilWorkspace(world, 'lab1', 'Failed');
      expect(conditionIn(failed, 'SpecValid')).toMatchObject({
        status: 'False',
        message: expect.stringContaining('expected an ipAddress on control-net: a bridge gives none'),
      });
      expect(await world.kube.list(Deployment, { namespace: labNamespace })).toEqual([]);
    },
  },
});
