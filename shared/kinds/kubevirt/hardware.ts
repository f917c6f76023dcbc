import { defineResource } from '../resource.ts';

const ofCluster = (kind: string) =>
  defineResource(
    { apiVersion: 'instancetype.kubevirt.io/v1beta1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false },
    {},
  );

/** KubeVirt's kinds for the whole cluster that a machine names, by the field of its spec. */
export const hardwareKinds = {
  /** What suits an operating system, where a machine leaves it open: buses, firmware, clock, TPM. */
  preference: ofCluster('VirtualMachineClusterPreference'),
  /** A size: CPU and memory, and perhaps devices and nodes. */
  instancetype: ofCluster('VirtualMachineClusterInstancetype'),
};
