import { machineUidLabel, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { managedBy } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { controlledBy } from '../../shared/kubernetes/ownership.ts';

type Machine = KubernetesObject;

export const rootDiskName = (machine: string) => `${machine}-root`;
export const cloudInitName = (machine: string) => `${machine}-cloud-init`;

/** The machine that a root disk was made for, by the disk's name; undefined for any other DataVolume. */
export const machineNameOf = (dataVolume: string) => /^(.+)-root$/.exec(dataVolume)?.[1];

/** The labels of everything made for a machine. */
export const childLabels = ({ metadata }: Machine) => ({ ...managedBy, [machineUidLabel]: metadata.uid });

/** The metadata of an object created for a machine, which owns it. */
export const childMetadata = (machine: Machine, name: string) => ({
  name,
  namespace: machine.metadata.namespace,
  labels: childLabels(machine),
  ownerReferences: [controlledBy(VirtualMachine, machine)],
});
