import type { VirtualMachine, VirtualMachineStatus } from '../kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../kinds/resource.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import { isValid, type Policy } from '../policy.ts';

/** Selects the machines that name an image, whatever their state; the CRD declares both fields selectable. */
export const machinesOf = ({ namespace, name }: ObjectReference) =>
  `spec.vmDiskImageRef.name=${name},spec.vmDiskImageRef.namespace=${namespace}`;

/**
 * The machines among these that use the image they name. A machine that is being deleted does not: its disk is a clone. A machine in a
 * namespace that the policy does not allow to name the image does not retain it. While the policy cannot be read all of them count. Sorted by namespace and name.
 */
export const referencesAmong = (machines: readonly VirtualMachine[], policy: Policy): VirtualMachine[] =>
  machines
    .filter((machine) => machine.metadata.deletionTimestamp === undefined && isAllowed(machine, policy))
    .map((machine) => [formatReference(machine), machine] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, machine]) => machine);

/**
 * Whether this machine keeps an image that is being deleted, and may go on cloning from it: its disk is a clone of that
 * image; or the image has a usable snapshot, and its disk is to be a clone of it or it was there when the image was deleted.
 * Any other waits until the image is gone, and an image must not wait for those that wait for it.
 */
export const isHeldBy = (image: VMDiskImage, { metadata, status }: VirtualMachine): boolean => {
  const { deletionTimestamp, uid } = image.metadata;
  if (status?.rootDisk) return status.rootDisk.image === uid && (isCloned(status) || isUsable(image));
  return (
    isUsable(image) &&
    (deletionTimestamp === undefined || Date.parse(metadata.creationTimestamp) <= Date.parse(deletionTimestamp))
  );
};

/** A fault of a disk that replaced another does not concern the disk that the machine runs on. */
const isCloned = ({ conditions }: VirtualMachineStatus) => {
  const ready = conditionOf(conditions, 'DiskReady');
  return ready?.status === 'True' || ready?.reason === 'DiskReplaced';
};

/** The image has a snapshot that disks can be cloned from, be it of an earlier revision. */
const isUsable = ({ status }: VMDiskImage) =>
  status?.snapshot !== undefined && conditionOf(status.conditions, 'Ready')?.status === 'True';

/** How a machine is named among the references of an image. */
export const formatReference = ({ metadata }: VirtualMachine) => keyOf(metadata);

const isAllowed = ({ metadata, spec }: VirtualMachine, policy: Policy) =>
  !isValid(policy, 'imageNamespaces') ||
  mayUse(metadata.namespace, spec.vmDiskImageRef.namespace, policy.values.imageNamespaces);

/** Where a machine of this namespace may name, make and clone images: its own namespace, and the policy's. */
export const mayUse = (
  machineNamespace: string | undefined,
  imageNamespace: string,
  imageNamespaces: readonly string[],
) => imageNamespace === machineNamespace || imageNamespaces.includes(imageNamespace);
