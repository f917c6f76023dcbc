import type { VirtualMachine } from '../resources/pelotech/virtual-machine.ts';
import type { ObjectReference } from '../resources/resource.ts';

/** Selects the machines that name an image, whatever their state; the CRD declares both fields selectable. */
export const machinesOf = ({ namespace, name }: ObjectReference) =>
  `spec.vmDiskImageRef.name=${name},spec.vmDiskImageRef.namespace=${namespace}`;

/**
 * The machines among these that use their image: one that is being deleted uses it no more, for its disk is a clone.
 * Sorted by namespace and name.
 */
export const referencesAmong = (machines: readonly VirtualMachine[]): VirtualMachine[] =>
  machines
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((a, b) => sayReference(a).localeCompare(sayReference(b)));

/** How a machine is named among the references of an image. */
export const sayReference = ({ metadata }: VirtualMachine) => `${metadata.namespace}/${metadata.name}`;

/** Where a machine of this namespace may name, make and clone images: its own namespace, and the policy's. */
export const mayUse = (
  machineNamespace: string | undefined,
  imageNamespace: string,
  imageNamespaces: readonly string[],
) => imageNamespace === machineNamespace || imageNamespaces.includes(imageNamespace);
