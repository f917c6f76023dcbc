import type { Action } from '../../shared/actions.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { Pod } from '../../shared/kinds/core/pod.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { subnetName } from '../../shared/workspaces/workspace.ts';
import { portsOf } from './containers/plan.ts';
import { withAddresses } from './network/bridge.ts';
import { definitionNames, type Provider } from './network/plan.ts';
import type { Inside, Outside, Own } from './observed.ts';
import { isSkipped } from './skipped.ts';
import type { Stage } from './stage.ts';

/** How objects that the spec no longer has are deleted: machines and containers, then volumes, and networks once they have no users. */
export interface Garbage {
  writes: Action[];
  /** Networks that stay, with their users. */
  networksInUse: Stage['obstacle'];
}

interface Observations extends Pick<Outside, 'subnets' | 'vpc'>, Pick<Inside, 'machines' | 'pods'> {
  workspace: Workspace;
  policy: Policy;
  provider: Provider;
  own: Own;
}

/** Deletes what the spec no longer has; a network that is still in use is kept, and reported. */
export function garbage(found: Observations): Garbage {
  const { workspace, policy, provider, own, subnets, vpc } = found;
  const { vms = [], containerClusters = [], volumes = [], networks = [] } = workspace.spec;
  const made = <T extends { ignoreOnDeploy?: boolean | undefined }>(members: readonly T[]) =>
    members.filter((member) => !isSkipped(member, policy));
  const names = (members: readonly { name: string }[]) => new Set(members.map(({ name }) => name));
  const wanted = definitionNames(networks, provider);
  const users = goneNetworks(own.definitions, wanted).map((network) => ({ network, by: usersOf(found, network) }));
  const kept = users.filter(({ by }) => by.length > 0);
  const keptNames = kept.map(({ network }) => network);
  const definitions = new Set([...wanted, ...keptNames, ...keptNames.map(withAddresses)]);
  const wantedSubnets = new Set(
    [...networks.map(({ name }) => name), ...keptNames].map((name) => subnetName(workspace.metadata.name, name)),
  );
  const isVpcFree = networks.length === 0 && subnets.length === 0 && vpc !== undefined;
  return {
    writes: [
      ...deleteExcept(Deployment, own.deployments, names(made(containerClusters))),
      ...deleteExcept(Service, own.services, names(made(containerClusters).filter((one) => portsOf(one).length > 0))),
      ...deleteExcept(VirtualMachine, own.machines, names(made(vms))),
      ...deleteExcept(PersistentVolumeClaim, own.claims, names(volumes)),
      ...deleteExcept(NetworkAttachmentDefinition, own.definitions, definitions),
      ...deleteExcept(Subnet, own.subnets, wantedSubnets),
      ...(isVpcFree ? deleteExcept(Vpc, own.vpcs) : []),
    ],
    networksInUse: kept.length > 0 ? inUse(kept) : undefined,
  };
}

export const deleteExcept = (
  resource: Resource,
  own: readonly KubernetesObject[],
  wanted: ReadonlySet<string> = new Set(),
): Action[] =>
  own
    .filter(({ metadata }) => !wanted.has(metadata.name) && metadata.deletionTimestamp === undefined)
    .map((of): Action => ({ do: 'delete', resource, of }));

/** The networks that were made and are no longer in the spec, by the definitions that lead to them. */
function goneNetworks(own: Own['definitions'], wanted: ReadonlySet<string>): string[] {
  const gone = own.map(({ metadata }) => metadata.name).filter((name) => !wanted.has(name));
  return gone.filter((name) => !gone.some((other) => name === withAddresses(other)));
}

/** Machines by their spec, and Pods by what they were started with: a machine that runs keeps its network until it stops. */
function usersOf({ machines, pods }: Pick<Inside, 'machines' | 'pods'>, network: string): string[] {
  const on = machines.filter(({ spec }) => spec.interfaces?.some((one) => one.network === network));
  return [
    ...on.map(({ metadata }) => `VirtualMachine ${metadata.name}`),
    ...pods.filter((pod) => isOn(pod, network)).map(({ metadata }) => `Pod ${metadata.name}`),
  ];
}

function isOn({ metadata, status }: Pod, network: string): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  const text = metadata.annotations?.['k8s.v1.cni.cncf.io/networks'] ?? '';
  return text.includes(`"name":"${network}"`) || text.includes(`"name":"${withAddresses(network)}"`);
}

function inUse(kept: readonly { network: string; by: readonly string[] }[]): NonNullable<Stage['obstacle']> {
  const users = kept.map(({ network, by }) => `${network} (${by.slice(0, 5).join(', ')})`).join('; ');
  return {
    reason: 'NetworkInUse',
    message: `Expected no users of a network that is to be removed, found ${users}; it is deleted once they have left it.`,
    isFinal: false,
  };
}
