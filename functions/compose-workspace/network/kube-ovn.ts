import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { Subnet } from '../../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../../shared/kinds/kube-ovn/vpc.ts';
import type { Workspace, WorkspaceNetwork, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { namespaceOf, subnetName } from '../../../shared/workspaces/workspace.ts';
import { type Child, named } from '../child.ts';
import { bareAddress, freeGateway, membersOf } from './addresses.ts';

/** What ties a Subnet to its NetworkAttachmentDefinition, and prefixes the annotations of its members. */
export const providerOf = (namespace: string, network: string) => `${network}.${namespace}.ovn`;

/** A router of the workspace's own: two workspaces may have equal networks. */
export const vpcChild = ({ metadata: { name } }: Workspace): Child => ({
  resource: Vpc,
  name: namespaceOf(name),
  fields: { spec: { namespaces: [namespaceOf(name)] } },
  isShared: true,
});

/** The Subnet of a network, which may exist already. */
export function subnetChild({ metadata, spec }: Workspace, network: WorkspaceNetwork, own: readonly Subnet[]): Child {
  const namespace = namespaceOf(metadata.name);
  const name = subnetName(metadata.name, network.name);
  const gateway =
    network.rangeGateway ?? keptGateway(spec, network, named(own, name)) ?? freeGateway(network, spec) ?? '';
  return {
    resource: Subnet,
    name,
    fields: {
      spec: {
        vpc: namespace,
        protocol: 'IPv4',
        cidrBlock: network.cidr,
        gateway,
        excludeIps: [gateway],
        provider: providerOf(namespace, network.name),
        natOutgoing: false,
        private: false,
        enableDHCP: false,
        // The gateway may be a machine of the lab, which need not answer before other members start.
        disableGatewayCheck: true,
      },
    },
    isShared: true,
  };
}

/**
 * kube-ovn needs a gateway even if the lab has none: then it gets a free address, which no member receives. The one chosen
 * before stays while that address is free.
 */
function keptGateway(
  spec: WorkspaceSpec,
  { name, cidr }: WorkspaceNetwork,
  found: Subnet | undefined,
): string | undefined {
  const { gateway, cidrBlock } = (found?.spec ?? {}) as { gateway?: string; cidrBlock?: string };
  const isTaken = membersOf(spec)
    .flatMap(({ interfaces }) => interfaces)
    .some(({ network, ipAddress = '' }) => network === name && bareAddress(ipAddress) === gateway);
  return gateway && cidrBlock === cidr && !isTaken ? gateway : undefined;
}

/** What connects Pods and machines to the Subnet. */
export const definitionChild = (namespace: string, { name }: WorkspaceNetwork): Child => ({
  resource: NetworkAttachmentDefinition,
  name,
  fields: {
    spec: {
      config: JSON.stringify({
        cniVersion: '0.3.0',
        type: 'kube-ovn',
        server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
        provider: providerOf(namespace, name),
      }),
    },
  },
});
