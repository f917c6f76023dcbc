import type { Batch, Context } from '../../shared/function.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { onClouds, openOrNamed } from '../../shared/runtime/openstack/by-namespace.ts';
import { narrowLists } from '../../shared/runtime/openstack/narrow-lists.ts';
import { subnetOf } from './decide.ts';
import type { Observed } from './observed.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { nowMs, refusals } = context;
  const lists = narrowLists(batch);
  return onClouds(
    context,
    await openOrNamed(context.kube, batch, VirtualNetwork),
    async (cloud, asked) => {
      const networksOf = (uids?: readonly string[]) =>
        cloud.list(listNetworks(cloud.project, { uids }), 'networks', Network);
      const subnetsOf = (uids?: readonly string[]) =>
        cloud.list(listSubnets(cloud.project, { uids }), 'subnets', Subnet);
      const uids = asked.map(({ metadata }) => metadata.uid);
      const [networks, subnets] = await Promise.all([lists.some(uids, networksOf), lists.some(uids, subnetsOf)]);
      const found = { networks, subnets };
      const needsFreeRange = (network: VirtualNetwork) =>
        network.metadata.deletionTimestamp === undefined &&
        network.spec.cidr === undefined &&
        subnetOf(network, found) === undefined;
      return lists.isWhole || !asked.some(needsFreeRange) ? found : { networks, subnets: await subnetsOf() };
    },
    (network, cloud) => ({ nowMs, refusals, network, cloud }),
  );
}
