import type { Batch, Context } from '../../shared/function.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { uidTag } from '../../shared/kinds/openstack/request.ts';
import { onClouds, openOrNamed } from '../../shared/runtime/openstack/by-namespace.ts';
import { narrowLists } from '../../shared/runtime/openstack/narrow-lists.ts';
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
      const made = new Set(networks.map(({ id, description }) => `${id} ${description}`));
      const complete = new Set(
        subnets
          .filter(({ network_id, description }) => made.has(`${network_id} ${description}`))
          .map(({ description }) => description),
      );
      const needsFreeRange = ({ metadata, spec }: VirtualNetwork) =>
        metadata.deletionTimestamp === undefined && spec.cidr === undefined && !complete.has(uidTag(metadata.uid));
      return { networks, subnets: asked.some(needsFreeRange) ? await subnetsOf() : subnets };
    },
    (network, cloud) => ({ nowMs, refusals, network, cloud }),
  );
}
