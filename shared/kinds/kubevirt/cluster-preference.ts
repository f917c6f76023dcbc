import { defineResource, type ObjectOf } from '../resource.ts';

/** What KubeVirt gives a machine for its operating system where its template leaves it open: buses, firmware, clock, TPM. */
export const ClusterPreference = defineResource(
  {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterPreference',
    plural: 'virtualmachineclusterpreferences',
    namespaced: false,
  },
  {},
);
export type ClusterPreference = ObjectOf<typeof ClusterPreference>;
