import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { CloudFault } from '../../shared/openstack/status.ts';

/** One network, and what OpenStack has of it. */
export interface Observed {
  nowMs: number;
  refusals: Refusals;
  network: VirtualNetwork;
  cloud: { fault: CloudFault } | InProject;
}

/** What there is of it in its project: of subnets all that the project has, if a range is to be chosen. */
export interface InProject {
  networks: readonly Network[];
  subnets: readonly Subnet[];
}
