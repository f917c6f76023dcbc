import type { Batch, Context } from '../../shared/function.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import { listNetworks, listSubnets, Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { uidTag } from '../../shared/kinds/openstack/request.ts';
import { listSome, onClouds, openOrNamed } from '../../shared/runtime/openstack/by-namespace.ts';
import type { Observed } from './observed.ts';

export async function gather(context: Context, batch: Batch): Promise<Observed[]> {
  const { nowMs, refusals } = context;
  return onClouds(
    context,
    await openOrNamed(context.kube, batch, VirtualNetwork),
    async (cloud, asked) => {
      const subnetsOf = (uids?: readonly string[]) =>
        cloud.list(listSubnets(cloud.project, { uids }), 'subnets', Subnet);
      const uids = asked.map(({ metadata }) => metadata.uid);
      const [networks, subnets] = await Promise.all([
        listSome(uids, (uids) => cloud.list(listNetworks(cloud.project, { uids }), 'networks', Network)),
        listSome(uids, subnetsOf),
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
