import { defineResource, type ObjectOf } from '../resource.ts';

/** KubeVirt's size of machines for the whole cluster: CPU and memory, and perhaps devices and nodes. */
export const ClusterInstancetype = defineResource(
  {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterInstancetype',
    plural: 'virtualmachineclusterinstancetypes',
    namespaced: false,
  },
  {},
);
export type ClusterInstancetype = ObjectOf<typeof ClusterInstancetype>;
