import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { CloudFault } from '../../shared/openstack/status.ts';

/** One network, and what there is of networks in its project. */
export interface Observed {
  nowMs: number;
  refusals: Refusals;
  network: VirtualNetwork;
  cloud: { fault: CloudFault } | { networks: readonly Network[]; subnets: readonly Subnet[] };
}
