import type { Action } from '../../shared/actions.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { Pod } from '../../shared/kinds/core/pod.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { owns } from '../../shared/kubernetes/ownership.ts';
import { subnetName } from '../../shared/workspaces/workspace.ts';
import { portsOf } from './containers/plan.ts';
import { withAddresses } from './network/bridge.ts';
import { definitionNames } from './network/plan.ts';
import type { Observed } from './observed.ts';
import { isSkipped } from './skipped.ts';
import type { Stage } from './stage.ts';

/** What is there and wanted no more: machines and containers go, then volumes, and networks once nobody is on them. */
export interface Leftovers {
  writes: Action[];
  /** Networks that stay, with who is on them. */
  networksInUse: Stage['obstacle'];
}

/** Takes away what the spec no longer says; a network that is still in use is kept, and said. */
export function garbage(observed: Observed): Leftovers {
  const { workspace, inside, outside, policy } = observed;
  if (!inside) return { writes: [], networksInUse: undefined };
  const { vms = [], containerClusters = [], volumes = [], networks = [] } = workspace.spec;
  const names = (list: readonly { name: string }[]) => new Set(list.map(({ name }) => name));
  const here = [
    ...unwanted(
      observed,
      Deployment,
      inside.deployments,
      names(containerClusters.filter((one) => !isSkipped(one, policy))),
    ),
    ...unwanted(
      observed,
      Service,
      inside.services,
      names(containerClusters.filter((one) => !isSkipped(one, policy) && portsOf(one).length > 0)),
    ),
    ...unwanted(observed, VirtualMachine, inside.machines, names(vms.filter((one) => !isSkipped(one, policy)))),
    ...unwanted(observed, PersistentVolumeClaim, inside.claims, names(volumes)),
  ];
  const gone = goneNetworks(observed);
  const users = gone.map((network) => ({ network, by: usersOf(observed, network) }));
  const kept = users.filter(({ by }) => by.length > 0);
  const keptNames = kept.map(({ network }) => network);
  const definitions = new Set([...definitionNames(observed), ...keptNames, ...keptNames.map(withAddresses)]);
  const subnets = new Set(
    [...networks.map(({ name }) => name), ...keptNames].map((name) => subnetName(workspace.metadata.name, name)),
  );
  const freed = unwanted(observed, Subnet, outside.subnets, subnets);
  const isVpcFree = networks.length === 0 && outside.subnets.length === 0 && outside.vpc !== undefined;
  return {
    writes: [
      ...here,
      ...unwanted(observed, NetworkAttachmentDefinition, inside.definitions, definitions),
      ...freed,
      ...(isVpcFree && outside.vpc ? unwanted(observed, Vpc, [outside.vpc], new Set()) : []),
    ],
    networksInUse: kept.length > 0 ? inUse(kept) : undefined,
  };
}

function unwanted(
  observed: Observed,
  resource: Resource,
  found: readonly KubernetesObject[],
  wanted: ReadonlySet<string>,
): Action[] {
  return found
    .filter((object) => owns(observed.workspace, object))
    .filter(({ metadata }) => !wanted.has(metadata.name) && metadata.deletionTimestamp === undefined)
    .map((of): Action => ({ do: 'delete', resource, of }));
}

/** The networks that were made and are in the spec no more, by the definitions that lead to them. */
function goneNetworks(observed: Observed): string[] {
  const wanted = definitionNames(observed);
  const found = (observed.inside?.definitions ?? [])
    .filter((object) => owns(observed.workspace, object))
    .map(({ metadata }) => metadata.name)
    .filter((name) => !wanted.has(name));
  return found.filter((name) => !found.some((other) => name === withAddresses(other)));
}

/** Machines by their spec, and Pods by what they were started with: a machine that runs keeps its network until it stops. */
export function usersOf({ inside }: Observed, network: string): string[] {
  const machines = (inside?.machines ?? [])
    .filter(({ spec }) => spec.interfaces?.some((one) => one.network === network))
    .map(({ metadata }) => `VirtualMachine ${metadata.name}`);
  const pods = (inside?.pods ?? []).filter((pod) => isOn(pod, network)).map(({ metadata }) => `Pod ${metadata.name}`);
  return [...machines, ...pods];
}

function isOn({ metadata, status }: Pod, network: string): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  const text = metadata.annotations?.['k8s.v1.cni.cncf.io/networks'] ?? '';
  return text.includes(`"name":"${network}"`) || text.includes(`"name":"${withAddresses(network)}"`);
}

function inUse(kept: readonly { network: string; by: readonly string[] }[]): NonNullable<Stage['obstacle']> {
  const said = kept.map(({ network, by }) => `${network} (${by.slice(0, 5).join(', ')})`).join('; ');
  return {
    reason: 'NetworkInUse',
    message: `Expected nobody on a network that is to be removed, found ${said}; it goes once they are off it.`,
    isFinal: false,
  };
}
