import type { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import type { Workspace, WorkspaceNetwork } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { type Made, type Make, named } from '../child.ts';
import type { Inside, Outside, Own } from '../observed.ts';
import { type ComponentStatus, failed, type PlannedComponent, ready, type Stage, stageOf, statusOf } from '../stage.ts';
import { bridgeChildren } from './bridge.ts';
import { definitionChild, subnetChild, vpcChild } from './kube-ovn.ts';
import { statusOfSubnet } from './status.ts';

export type Provider = Policy['values']['networkProvider'];

/** What makes the networks of a workspace: what made the first ones, by its status, else by the existing networks. */
export const providerFor = ({ status }: Workspace, own: Own, { values }: Policy): Provider =>
  status?.networkProvider === 'bridge' || status?.networkProvider === 'kube-ovn'
    ? status.networkProvider
    : (foundProvider(own) ?? values.networkProvider);

/** By the networks of the workspace that exist; undefined if none does. */
export const foundProvider = ({ subnets, vpcs, definitions }: Own): Provider | undefined =>
  subnets.length + vpcs.length > 0 ? 'kube-ovn' : definitions.map(typeOf).find((type) => type !== undefined);

/** Read without parsing: a user may have edited it. */
const typeOf = ({ spec }: NetworkAttachmentDefinition) =>
  /"type"\s*:\s*"(bridge|kube-ovn)"/.exec(spec?.config ?? '')?.[1] as Provider | undefined;

interface Networks extends Outside, Pick<Inside, 'hasMultus' | 'definitions'> {
  workspace: Workspace;
  provider: Provider;
  own: Own;
}

/** The networks, each with its objects. */
export function networkStage(found: Networks, make: Make): Stage {
  const { workspace, provider } = found;
  const { networks = [] } = workspace.spec;
  const missing = missingKinds(found);
  if (missing) {
    return stageOf(
      'NetworksReady',
      'Network',
      networks.map(({ name }) => ({ name, writes: [], status: missing })),
    );
  }
  if (networks.length === 0) return stageOf('NetworksReady', 'Network', []);
  return provider === 'kube-ovn' ? ofKubeOvn(found, networks, make) : ofBridges(found, networks, make);
}

function missingKinds({ hasMultus, provider, isServed }: Networks): ComponentStatus | undefined {
  if (!hasMultus) {
    return failed('MultusMissing', 'Expected the kind NetworkAttachmentDefinition, found none; install Multus.');
  }
  return provider === 'kube-ovn' && !isServed
    ? failed(
        'KubeOvnMissing',
        "Expected kube-ovn's kinds Vpc and Subnet (policy key networkProvider: kube-ovn), found none; install kube-ovn, or set networkProvider to bridge.",
      )
    : undefined;
}

/** The Vpc first: no Subnet is put on another owner's. */
function ofKubeOvn(
  { workspace, definitions, vpc: foundVpc, subnets, own }: Networks,
  networks: readonly WorkspaceNetwork[],
  make: Make,
): Stage {
  const namespace = namespaceOf(workspace.metadata.name);
  const vpc = make(vpcChild(workspace), foundVpc);
  const components = networks.map((network): PlannedComponent => {
    const child = subnetChild(workspace, network, own.subnets);
    const subnet = named(subnets, child.name);
    const definition = definitionChild(namespace, network);
    const made = vpc.obstacle ? [] : [make(child, subnet), make(definition, named(definitions, network.name))];
    return {
      name: network.name,
      writes: writesOf(made),
      status: statusOf([vpc, ...made]) ?? statusOfSubnet(subnet),
    };
  });
  const stage = stageOf('NetworksReady', 'Network', components);
  return vpc.writes.length > 0
    ? { ...stage, writes: [...vpc.writes, ...stage.writes], sequenceOf: () => 'router' }
    : stage;
}

const writesOf = (made: readonly Made[]) => made.flatMap(({ writes }) => writes);

function ofBridges({ workspace, definitions }: Networks, networks: readonly WorkspaceNetwork[], make: Make): Stage {
  const namespace = namespaceOf(workspace.metadata.name);
  const defined = ready('Defined', 'It is a bridge on the node of its members.');
  const components = networks.map((network): PlannedComponent => {
    const made = bridgeChildren(namespace, network).map((child) => make(child, named(definitions, child.name)));
    return { name: network.name, writes: writesOf(made), status: statusOf(made) ?? defined };
  });
  return stageOf('NetworksReady', 'Network', components);
}

/** The names of the NetworkAttachmentDefinitions of networks. */
export const definitionNames = (networks: readonly WorkspaceNetwork[], provider: Provider): Set<string> =>
  new Set(
    networks.flatMap((network) =>
      provider === 'kube-ovn' ? [network.name] : bridgeChildren('', network).map(({ name }) => name),
    ),
  );
