import { managedBy } from '../kinds/pelotech/vm-disk-image.ts';
import { Workspace, workspaceLabel, workspaceUidLabel } from '../kinds/pelotech/workspace.ts';
import type { KubernetesObject, ObjectReference } from '../kinds/resource.ts';
import { shortHash } from '../kubernetes/names.ts';
import { controlledBy } from '../kubernetes/ownership.ts';

/** What the names of Namespaces, Vpcs and Subnets of workspaces begin with; no other of theirs may be written. */
export const workspacePrefix = 'ws-';

/** The Namespace of a workspace, which its Vpc is called as well. */
export const namespaceOf = (workspace: string) => `${workspacePrefix}${workspace}`;

/** The workspace that a Namespace of that name would be of; undefined for any other Namespace. */
export const workspaceIn = (namespace: string | undefined) =>
  namespace?.startsWith(workspacePrefix) && namespace.length > workspacePrefix.length
    ? namespace.slice(workspacePrefix.length)
    : undefined;

/** kube-ovn puts the name of a Subnet into labels. */
const longestLabel = 63;

/** What the Subnet of a network is called: Subnets of all workspaces share one space of names. */
export function subnetName(workspace: string, network: string): string {
  const hash = shortHash(`${workspace}\u0000${network}`);
  const plain = `${namespaceOf(workspace)}-${network}`.slice(0, longestLabel - hash.length - 1).replace(/-+$/, '');
  return `${plain}-${hash}`;
}

/** The workspace that the Subnet of that name belongs to; undefined if it belongs to none, or its name was cut. */
export function workspaceOfSubnet(subnet: string): string | undefined {
  const plain = workspaceIn(subnet.replace(/-[0-9a-f]{8}$/, ''));
  const words = plain?.split('-') ?? [];
  return words
    .map((_, index) => [words.slice(0, index).join('-'), words.slice(index).join('-')] as const)
    .find(([workspace, network]) => workspace !== '' && subnetName(workspace, network) === subnet)?.[0];
}

/** The labels of everything made for a workspace. */
const workspaceLabels = ({ metadata }: KubernetesObject) => ({
  ...managedBy,
  [workspaceLabel]: metadata.name,
  [workspaceUidLabel]: metadata.uid,
});

/** The metadata of what is made for a workspace: it belongs to the workspace, and is deleted with it. */
export const workspaceChild = (workspace: Workspace, ref: ObjectReference) => ({
  name: ref.name,
  ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
  labels: workspaceLabels(workspace),
  ownerReferences: [controlledBy(Workspace, workspace)],
});
