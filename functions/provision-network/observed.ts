import type { VirtualNetwork } from '../../shared/resources/kupenstack/virtual-network.ts';
import type { Network, Subnet } from '../../shared/resources/openstack/network.ts';
import type { CloudFault, Refusals } from '../../shared/rules/cloud-status.ts';

/** One network, and what there is of networks in its project. */
export interface Observed {
  nowMs: number;
  refusals: Refusals;
  network: VirtualNetwork;
  cloud: { fault: CloudFault } | { networks: readonly Network[]; subnets: readonly Subnet[] };
}
