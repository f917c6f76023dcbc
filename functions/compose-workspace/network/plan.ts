import type { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import type { Subnet } from '../../../shared/kinds/kube-ovn/subnet.ts';
import type { WorkspaceNetwork } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { namespaceOf } from '../../../shared/workspaces/workspace.ts';
import { type Child, type Made, make } from '../child.ts';
import type { Observed } from '../observed.ts';
import { component, failed, provisioning, ready, type Stage, type Standing, standingOf } from '../stage.ts';
import { bridgeChildren } from './bridge.ts';
import { definitionChild, subnetChild, vpcChild } from './kube-ovn.ts';

type Provider = Observed['policy']['values']['networkProvider'];

/** Who makes the networks of a workspace: whoever made its first ones, by its status, else by what they made. */
export const providerIn = (observed: Observed): Provider =>
  saidProvider(observed) ?? foundProvider(observed) ?? observed.policy.values.networkProvider;

function saidProvider({ workspace }: Observed): Provider | undefined {
  const said = workspace.status?.networkProvider;
  return said === 'bridge' || said === 'kube-ovn' ? said : undefined;
}

/** By what is there of the workspace's networks; undefined where there is nothing. */
export function foundProvider({ workspace, inside, outside }: Observed): Provider | undefined {
  const isOurs = (object: KubernetesObject) => owns(workspace, object);
  if ([...outside.subnets, ...(outside.vpc ? [outside.vpc] : [])].some(isOurs)) return 'kube-ovn';
  const types = (inside?.definitions ?? []).filter(isOurs).map(typeOf);
  return types.find((type) => type !== undefined);
}

/** Read without parsing: anybody may have edited it. */
const typeOf = ({ spec }: NetworkAttachmentDefinition) =>
  /"type"\s*:\s*"(bridge|kube-ovn)"/.exec(spec?.config ?? '')?.[1] as Provider | undefined;

/** The networks, each with all it is made of. */
export function networkStage(observed: Observed): Stage {
  const { networks = [] } = observed.workspace.spec;
  if (observed.inside?.hasMultus === false) return withoutMultus(networks);
  const made = providerIn(observed) === 'kube-ovn' ? withKubeOvn(observed, networks) : onBridges(observed, networks);
  return {
    condition: 'NetworksReady',
    writes: made.flatMap(({ writes }) => writes),
    components: made.flatMap(({ name, standing }) => (standing ? [component('Network', name, standing)] : [])),
  };
}

const withoutMultus = (networks: readonly WorkspaceNetwork[]): Stage => {
  const message = 'Expected the kind NetworkAttachmentDefinition, found none; install Multus.';
  const components = networks.map(({ name }) => component('Network', name, failed('MultusMissing', message)));
  return { condition: 'NetworksReady', writes: [], components };
};

interface MadeNetwork {
  name: string;
  writes: Made['writes'];
  /** Absent for what is no network itself. */
  standing?: Standing;
}

const made = (name: string, parts: readonly Made[], otherwise: Standing): MadeNetwork => ({
  name,
  writes: parts.flatMap(({ writes }) => writes),
  standing: standingOf(parts) ?? otherwise,
});

/** The Vpc first: no Subnet is put on one that is not the workspace's. */
function withKubeOvn(observed: Observed, networks: readonly WorkspaceNetwork[]): MadeNetwork[] {
  const { workspace, outside } = observed;
  if (!outside.isServed) {
    const message =
      "Expected kube-ovn's kinds Vpc and Subnet (policy key networkProvider: kube-ovn), found none; install kube-ovn, or set networkProvider to bridge.";
    return networks.map(({ name }) => ({ name, writes: [], standing: failed('KubeOvnMissing', message) }));
  }
  if (networks.length === 0) return [];
  const vpc = make(observed, vpcChild(workspace), outside.vpc);
  const namespace = namespaceOf(workspace.metadata.name);
  const isOurs = vpc.obstacle === undefined;
  return [
    { name: namespace, writes: vpc.writes },
    ...networks.map((network) => {
      const child = stable(subnetChild(workspace, network), observed, network);
      const found = subnetOf(observed, child);
      const parts = isOurs ? [make(observed, child, found), define(observed, definitionChild(namespace, network))] : [];
      return made(network.name, [vpc, ...parts].map(withoutWrites(vpc)), standingOfSubnet(found));
    }),
  ];
}

/** What is written once for all networks is among the writes once. */
const withoutWrites = (shared: Made) => (one: Made) => (one === shared ? { ...one, writes: [] } : one);

const subnetOf = ({ outside }: Observed, { ref }: Child) =>
  outside.subnets.find(({ metadata }) => metadata.name === ref.name);

/** The gateway that was chosen before stays as long as nobody has that address. */
function stable(child: Child, observed: Observed, { rangeGateway, name }: WorkspaceNetwork): Child {
  const found = subnetOf(observed, child);
  const before = (found?.spec as { gateway?: string } | undefined)?.gateway;
  if (rangeGateway !== undefined || !before || !found || !owns(observed.workspace, found)) return child;
  const { vms = [], containerClusters = [] } = observed.workspace.spec;
  const isTaken = [...vms, ...containerClusters]
    .flatMap(({ interfaces = [] }) => interfaces)
    .some(({ network, ipAddress }) => network === name && ipAddress?.split('/')[0] === before);
  const spec = child.fields.spec as { cidrBlock: string };
  const isSameNetwork = (found.spec as { cidrBlock?: string }).cidrBlock === spec.cidrBlock;
  if (isTaken || !isSameNetwork) return child;
  return { ...child, fields: { spec: { ...spec, gateway: before, excludeIps: [before] } } };
}

function standingOfSubnet(subnet: Subnet | undefined): Standing {
  const conditions = subnet?.status?.conditions;
  const isTrue = (type: string) => conditionOf(conditions, type)?.status === 'True';
  if (isTrue('Ready')) return ready('SubnetReady', 'kube-ovn has set it up.');
  const fault = conditions?.find(
    ({ type, status }) => (type === 'Error' && status === 'True') || (type === 'Validated' && status === 'False'),
  );
  return fault
    ? failed(fault.reason || 'SubnetFailed', `kube-ovn cannot set it up: ${fault.message || fault.reason}`)
    : provisioning('SubnetNotReady', 'kube-ovn has not set it up yet.');
}

const onBridges = (observed: Observed, networks: readonly WorkspaceNetwork[]): MadeNetwork[] =>
  networks.map((network) => {
    const children = bridgeChildren(namespaceOf(observed.workspace.metadata.name), network);
    return made(
      network.name,
      children.map((child) => define(observed, child)),
      ready('Defined', 'It is a bridge on the node of its members.'),
    );
  });

const define = (observed: Observed, child: Child): Made =>
  make(
    observed,
    child,
    observed.inside?.definitions.find(({ metadata }) => metadata.name === child.ref.name),
  );

/** The names of the definitions that networks are made of. */
export const definitionNames = (observed: Observed): Set<string> =>
  new Set(
    (observed.workspace.spec.networks ?? []).flatMap((network) =>
      providerIn(observed) === 'kube-ovn' ? [network.name] : bridgeChildren('', network).map(({ ref }) => ref.name),
    ),
  );
