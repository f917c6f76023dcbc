import type { Batch, Context } from '../../shared/function.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { onClouds, openOrNamed } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Observed } from './observed.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { nowMs, refusals } = context;
  return onClouds(
    context,
    await openOrNamed(context.kube, batch, VirtualNetwork),
    async (cloud) => {
      const [networks, subnets] = await Promise.all([
        cloud.list(listNetworks(cloud.project), 'networks', Network),
        cloud.list(listSubnets(cloud.project), 'subnets', Subnet),
      ]);
      return { networks, subnets };
    },
    (network, cloud) => ({ nowMs, refusals, network, cloud }),
  );
}
