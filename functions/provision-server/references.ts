import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { UidOrName } from '../../shared/kinds/openstack/request.ts';
import type { KubernetesObject, ObjectReference } from '../../shared/kinds/resource.ts';

/** The VirtualNetworks of its namespace that a machine may mean. */
export const networksIn = ({ metadata: { namespace }, spec }: KupenStackMachine): ObjectReference[] =>
  (spec.virtualNetworks ?? []).map((name) => ({ namespace, name }));

/** The same of Volumes. */
export const volumesIn = ({ metadata: { namespace }, spec }: KupenStackMachine): ObjectReference[] =>
  spec.diskAttachments.map(({ name }) => ({ namespace, name }));

/** By what OpenStack finds it: by the uid of the object in the namespace, or else by its name. */
export function uidOrName({ name }: ObjectReference, siblings: readonly KubernetesObject[]): UidOrName {
  const sibling = siblings.find(({ metadata }) => metadata.name === name);
  return sibling ? { uid: sibling.metadata.uid } : { name };
}
