import type { Batch, Context } from '../../shared/function.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { type By, uidTag } from '../../shared/kinds/openstack/request.ts';
import { listBy, onClouds, openOrNamed } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Observed } from './observed.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { nowMs, refusals } = context;
  return onClouds(
    context,
    await openOrNamed(context.kube, batch, VirtualNetwork),
    async (cloud, asked) => {
      const subnetsOf = (by?: By) => cloud.list(listSubnets(cloud.project, by), 'subnets', Subnet);
      const byUids = asked.map(({ metadata }) => ({ uid: metadata.uid }));
      const [networks, subnets] = await Promise.all([
        listBy(byUids, (by) => cloud.list(listNetworks(cloud.project, by), 'networks', Network)),
        listBy(byUids, subnetsOf),
      ]);
      const tags = new Set(subnets.map(({ description }) => description));
      // A free range is looked for among those of the whole project.
      const isFreeOneWanted = asked.some(
        ({ metadata, spec }) =>
          metadata.deletionTimestamp === undefined && spec.cidr === undefined && !tags.has(uidTag(metadata.uid)),
      );
      return { networks, subnets: isFreeOneWanted ? await subnetsOf() : subnets };
    },
    (network, cloud) => ({ nowMs, refusals, network, cloud }),
  );
}
