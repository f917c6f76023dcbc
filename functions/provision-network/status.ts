import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import type { StatusReport } from '../../shared/kubernetes/status.ts';
import { type CloudFault, cloudReady, unreachable } from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import { sentence } from '../../shared/sentence.ts';

/** What the status said of the network in OpenStack, where this look tells nothing of it. */
export const before = ({ status }: VirtualNetwork) => ({
  id: status?.id,
  subnetID: status?.subnetID,
  cidr: status?.cidr,
  gatewayIP: status?.gatewayIP,
});

const factsOf = (own: Network | undefined, subnet: Subnet | undefined) => ({
  id: own?.id,
  subnetID: subnet?.id,
  cidr: subnet?.cidr,
  gatewayIP: subnet?.gateway_ip ?? undefined,
});

export const faulty = (network: VirtualNetwork, fault: CloudFault) =>
  unreachable(fault, network.status?.id !== undefined, { ...before(network), ready: false });

export function notUnique(network: VirtualNetwork, found: readonly Network[]): StatusReport {
  const ids = found.map(({ id }) => id).sort();
  return {
    phase: 'Failed',
    isReady: false,
    reason: 'NotUnique',
    message: `Expected one network of this object in OpenStack, found ${ids.join(', ')}: delete those that are not wanted.`,
    conditions: [cloudReady],
    fields: { ...before(network), ready: false },
  };
}

export const noRoom = (network: VirtualNetwork, own: Network | undefined): StatusReport => ({
  phase: 'Failed',
  isReady: false,
  reason: 'NoFreeAddresses',
  message: 'Expected a 10.x.y.0/24 that no network of the project overlaps with, found none: say a cidr.',
  conditions: [cloudReady],
  fields: { ...before(network), ...factsOf(own, undefined), ready: false },
});

/** What heals by itself, or with another quota, leaves it Pending; a spec that OpenStack refuses is Failed. */
export function refusedReport(
  network: VirtualNetwork,
  own: Network | undefined,
  subnet: Subnet | undefined,
  { reason, message }: Cause,
): StatusReport {
  const isUsable = own !== undefined && subnet !== undefined;
  const isFinal = reason === 'Refused' || reason === 'Forbidden';
  return {
    phase: isFinal ? 'Failed' : isUsable ? 'Available' : 'Pending',
    isReady: false,
    reason,
    message: `OpenStack refuses the network as it is asked for: ${sentence(message)}`,
    conditions: [cloudReady],
    fields: { ...before(network), ...factsOf(own, subnet), ready: isUsable },
  };
}

export const available = (own: Network | undefined, subnet: Subnet | undefined): StatusReport => ({
  phase: 'Available',
  isReady: true,
  reason: 'Available',
  message: `The network ${subnet?.cidr} exists.`,
  conditions: [cloudReady],
  fields: { ...factsOf(own, subnet), ready: true },
});
