import type { Action } from '../../shared/actions.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Network, Subnet } from '../../shared/kinds/openstack/network.ts';
import { reportStatus, type StatusReport } from '../../shared/kubernetes/status.ts';
import {
  type CloudFault,
  cloudReady,
  describeRefused,
  isFinalRefusal,
  notUnique,
  unreachable,
} from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import type { Observed } from './observed.ts';

/** What the status reports of the network in OpenStack, where this reconcile found out nothing about it. */
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

const failed = (network: VirtualNetwork, cause: Cause, own?: Network): StatusReport => ({
  phase: 'Failed',
  isReady: false,
  ...cause,
  conditions: [cloudReady],
  fields: { ...before(network), ...(own ? factsOf(own, undefined) : {}), ready: false },
});

export const twice = (network: VirtualNetwork, found: readonly Network[]) =>
  failed(network, notUnique('network', found));

export const noRoom = (network: VirtualNetwork, own: Network | undefined) =>
  failed(
    network,
    {
      reason: 'NoFreeAddresses',
      message: 'Expected a 10.x.y.0/24 that no network of the project overlaps with, found none: set spec.cidr.',
    },
    own,
  );

/** What heals by itself, or with another quota, leaves it Pending; a spec that OpenStack refuses is Failed. */
export function refusedReport(
  network: VirtualNetwork,
  own: Network | undefined,
  subnet: Subnet | undefined,
  refused: Cause,
): StatusReport {
  const isUsable = own !== undefined && subnet !== undefined;
  return {
    phase: isFinalRefusal(refused) ? 'Failed' : isUsable ? 'Available' : 'Pending',
    isReady: false,
    reason: refused.reason,
    message: describeRefused('network', refused),
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

export const updateStatus = ({ network, nowMs }: Observed, report: StatusReport): Action[] =>
  reportStatus({ resource: VirtualNetwork }, network, report, nowMs);
