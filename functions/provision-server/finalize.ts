import type { Action } from '../../shared/actions.ts';
import { kupenstackFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { deleteFlavor } from '../../shared/kinds/openstack/flavor.ts';
import { deleteKeyPair } from '../../shared/kinds/openstack/key-pair.ts';
import { deletePort } from '../../shared/kinds/openstack/network.ts';
import type { OpenStackRequest } from '../../shared/kinds/openstack/request.ts';
import { deleteServer } from '../../shared/kinds/openstack/server.ts';
import { hasFinalizer, removeFinalizer } from '../../shared/kubernetes/finalizer.ts';
import { callsFor, cloudReady, refusalOf, requeueSoon, unreachable } from '../../shared/openstack/status.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import { statusBefore } from './facts.ts';
import type { Found, Observed } from './observed.ts';
import { phaseOf } from './state.ts';
import { updateStatus } from './status.ts';

/**
 * Deletes what was created for a machine: the server, then ports, key pair and flavor; volumes and networks stay. A server that still
 * exists would hold the volumes.
 */
export function finalize(observed: Observed): Action[] {
  const { machine, cloud, refusals } = observed;
  if (!hasFinalizer(machine, kupenstackFinalizer)) return [];
  if ('fault' in cloud) {
    if (cloud.fault.reason === 'ProjectMissing')
      return [removeFinalizer(KupenStackMachine, machine, kupenstackFinalizer)];
    return updateStatus(observed, {
      ...unreachable(cloud.fault, true, statusBefore(machine)),
      phase: 'Terminating',
    });
  }
  const requests = requestsFor(machine.metadata.uid, cloud);
  const calls = callsFor(machine, requests, refusals);
  if (calls.length > 0) return calls;
  const refusalsOf = (some: readonly OpenStackRequest[]) =>
    some.map((request) => refusalOf(refusals, machine, request)).filter((one) => one !== undefined);
  // Another instance deleted it first.
  let refused = refusalsOf(requests).find(({ reason }) => reason !== 'NotFound');
  if (cloud.servers.length === 0 && !refused) {
    const deletions = cloud.unusedFlavors.map(({ id }) => deleteFlavor(id));
    const flavors = callsFor(machine, deletions, refusals);
    if (flavors.length > 0) return flavors;
    // An account that may not delete flavors does not keep its machine; without an answer the flavor is asked for again.
    refused = refusalsOf(deletions).find(({ reason }) => reason === 'Unavailable');
    if (!refused) return [removeFinalizer(KupenStackMachine, machine, kupenstackFinalizer)];
  }
  const { reason, message } = refused ?? deleting;
  const report = { isReady: false, reason, message, conditions: [cloudReady], fields: statusBefore(machine) };
  return [...updateStatus(observed, { ...report, phase: 'Terminating' }), requeueSoon(machine)];
}

const deleting: Cause = { reason: 'Deleting', message: 'The server is being deleted.' };

function requestsFor(uid: string, { servers, ports, hasKeyPair }: Found): OpenStackRequest[] {
  if (servers.length > 0)
    return servers.filter((server) => phaseOf(server) !== 'Terminating').map(({ id }) => deleteServer(id));
  return [...ports.map(({ id }) => deletePort(id)), ...(hasKeyPair ? [deleteKeyPair(uid)] : [])];
}
