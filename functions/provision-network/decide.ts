import type { Action } from '../../shared/actions.ts';
import { kupenstackFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import {
  createNetwork,
  createSubnet,
  deleteNetwork,
  type Network,
  type Subnet,
  updateNetwork,
  updateSubnet,
} from '../../shared/kinds/openstack/network.ts';
import { type OpenStackRequest, uidTag } from '../../shared/kinds/openstack/request.ts';
import { addFinalizer, hasFinalizer, removeFinalizer } from '../../shared/kubernetes/finalizer.ts';
import { callsFor, cloudReady, firstRefusal, requeueAfterFault } from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import { sentence } from '../../shared/sentence.ts';
import { freeCidr } from './free-cidr.ts';
import type { InProject, Observed } from './observed.ts';
import { shapeChanges, shapeOf } from './shape.ts';
import { available, before, faulty, noRoom, refusedReport, twice, updateStatus } from './status.ts';

/**
 * Creates a network and its subnet, and reports their status. Order: finalizer → network → subnet → status; at the end network (which
 * takes its subnet along) → finalizer. What was made is found by the uid in its description, whatever the status says.
 */
export function decide(observed: Observed): Action[] {
  const { network } = observed;
  if (network.metadata.deletionTimestamp) return finalize(observed);
  if ('fault' in observed.cloud) {
    const { fault } = observed.cloud;
    return [...updateStatus(observed, faulty(network, fault)), ...requeueAfterFault(fault, network)];
  }
  if (!hasFinalizer(network, kupenstackFinalizer))
    return [addFinalizer(VirtualNetwork, network, kupenstackFinalizer), { do: 'requeue', about: network }];
  const found = ownOf(network, observed.cloud.networks);
  const [own] = found;
  if (found.length > 1) return updateStatus(observed, twice(network, found));
  const subnet = subnetOf(network, observed.cloud);
  const requests = own
    ? requestsFor(network, own, subnet, observed.cloud.subnets)
    : [createNetwork(network.metadata.uid, network.metadata.name, network.spec.mtu)];
  if (requests === 'no room') return updateStatus(observed, noRoom(network, own));
  const calls = callsFor(network, requests, observed.refusals);
  if (calls.length > 0) return calls;
  const refused = firstRefusal(observed.refusals, network, requests);
  return updateStatus(observed, refused ? refusedReport(network, own, subnet, refused) : available(own, subnet));
}

const isOf = ({ metadata }: VirtualNetwork, { description }: { description: string }) =>
  description === uidTag(metadata.uid);

/** The subnet that was made for it, on its network. */
export function subnetOf(network: VirtualNetwork, { networks, subnets }: InProject): Subnet | undefined {
  const [own] = ownOf(network, networks);
  return own && subnets.find((one) => one.network_id === own.id && isOf(network, one));
}

const ownOf = (network: VirtualNetwork, networks: readonly Network[]) => networks.filter((one) => isOf(network, one));

/** What is missing or differs. */
function requestsFor(
  { metadata, spec }: VirtualNetwork,
  own: Network,
  subnet: Subnet | undefined,
  subnets: readonly Subnet[],
): OpenStackRequest[] | 'no room' {
  const mtu = spec.mtu !== undefined && own.mtu !== spec.mtu ? [updateNetwork(own.id, { mtu: spec.mtu })] : [];
  if (subnet) {
    const changes = shapeChanges(spec, subnet);
    return [...mtu, ...(changes ? [updateSubnet(subnet.id, changes)] : [])];
  }
  const { uid, name } = metadata;
  const taken = subnets.map((one) => one.cidr);
  const cidr = spec.cidr ?? freeCidr(uid, taken);
  if (cidr === undefined) return 'no room';
  return [...mtu, createSubnet({ uid, name, networkId: own.id, cidr }, shapeOf(spec, cidr))];
}

/** Deletes what was created. What cannot be deleted yet is reported and tried again. */
function finalize(observed: Observed): Action[] {
  const { network, cloud, refusals } = observed;
  if (!hasFinalizer(network, kupenstackFinalizer)) return [];
  const isNothingLeft =
    'fault' in cloud ? cloud.fault.reason === 'ProjectMissing' : ownOf(network, cloud.networks).length === 0;
  if (isNothingLeft) return [removeFinalizer(VirtualNetwork, network, kupenstackFinalizer)];
  if ('fault' in cloud) return updateStatus(observed, { ...faulty(network, cloud.fault), phase: 'Terminating' });
  const requests = ownOf(network, cloud.networks).map(({ id }) => deleteNetwork(id));
  const calls = callsFor(network, requests, refusals);
  if (calls.length > 0) return calls;
  const deleting: Cause = { reason: 'Deleting', message: 'It is being deleted.' };
  const { reason, message } = firstRefusal(refusals, network, requests) ?? deleting;
  const held = reason === 'Conflict' ? 'InUse' : reason;
  return [
    ...updateStatus(observed, {
      phase: 'Terminating',
      isReady: false,
      reason: held,
      message: `OpenStack does not delete the network yet: ${sentence(message)}`,
      conditions: [cloudReady, { type: 'DeletionHeld', status: 'True', reason: held, message }],
      fields: { ...before(network), ready: false },
    }),
    { do: 'requeueAfter', about: network, afterMs: heldAgainMs },
  ];
}

/** So often a network that machines are still on is asked for again. */
const heldAgainMs = 5000;
