import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import type { WorkspaceNetwork } from '../../../shared/kinds/pelotech/workspace.ts';
import { digestOf } from '../../../shared/kubernetes/names.ts';
import type { Child } from '../child.ts';

/** The definition that gives Pods the address they ask for; the one without the suffix is for machines. */
export const withAddresses = (network: string) => `${network}-ip`;

/** Linux takes 15 characters. */
const bridgeName = (namespace: string, network: string) => `ws${digestOf([namespace, network]).slice(0, 10)}`;

/**
 * The two definitions of a network on a bridge of one node. One cannot serve both: a machine asks for no address, and the
 * static IPAM fails without one (containernetworking/plugins, plugins/main/bridge/bridge.go).
 */
export function bridgeChildren(namespace: string, { name }: WorkspaceNetwork): Child[] {
  const common = { cniVersion: '0.3.1', type: 'bridge', bridge: bridgeName(namespace, name) };
  const child = (called: string, config: object): Child => ({
    resource: NetworkAttachmentDefinition,
    name: called,
    fields: { spec: { config: JSON.stringify({ ...common, ...config }) } },
  });
  return [
    child(name, { disableContainerInterface: true }),
    child(withAddresses(name), { capabilities: { ips: true }, ipam: { type: 'static' } }),
  ];
}
