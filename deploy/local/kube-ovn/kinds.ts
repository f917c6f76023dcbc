import * as z from 'zod';
import { defineResource, type ObjectOf } from '../../../shared/kinds/resource.ts';
import { Condition } from '../controller/kinds.ts';

const VpcStatus = z.looseObject({ standby: z.boolean().optional(), subnets: z.array(z.string()).nullish() });

/** A router of its own, so that the same addresses may be in two of them. */
export const Vpc = defineResource(
  { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', plural: 'vpcs', namespaced: false },
  {
    spec: z
      .looseObject({
        namespaces: z.array(z.string()).optional(),
        defaultSubnet: z.string().optional(),
        staticRoutes: z
          .array(
            z.looseObject({
              policy: z.string().optional(),
              cidr: z.string().optional(),
              nextHopIP: z.string().optional(),
            }),
          )
          .optional(),
      })
      .default({}),
    status: VpcStatus.optional(),
  },
);
export type Vpc = ObjectOf<typeof Vpc>;

const SubnetSpec = z.looseObject({
  vpc: z.string().optional(),
  vlan: z.string().optional(),
  protocol: z.string().optional(),
  cidrBlock: z.string().optional(),
  gateway: z.string().optional(),
  excludeIps: z.array(z.string()).optional(),
  provider: z.string().optional(),
  namespaces: z.array(z.string()).optional(),
  private: z.boolean().optional(),
  default: z.boolean().optional(),
  natOutgoing: z.boolean().optional(),
  gatewayNode: z.string().optional(),
  enableLb: z.boolean().optional(),
});
export type SubnetSpec = z.infer<typeof SubnetSpec>;

const SubnetStatus = z.looseObject({
  conditions: z.array(Condition).optional(),
  v4usingIPs: z.number().optional(),
  v4availableIPs: z.number().optional(),
  v6usingIPs: z.number().optional(),
  v6availableIPs: z.number().optional(),
});
export type SubnetStatus = z.infer<typeof SubnetStatus>;

/** A network in a Vpc: a range of addresses, and who gives them. */
export const Subnet = defineResource(
  { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', plural: 'subnets', namespaced: false },
  { spec: SubnetSpec.default({}), status: SubnetStatus.optional() },
);
export type Subnet = ObjectOf<typeof Subnet>;

/** What holds both kinds until kube-ovn has let them go. */
export const finalizer = 'kubeovn.io/kube-ovn-controller';

/** Whether kube-ovn itself gives the addresses: the cluster's own network, or that of a NetworkAttachmentDefinition. */
export const isOvn = ({ spec: { provider = '' } }: Subnet) => {
  const parts = provider.split('.');
  return provider === '' || provider === 'ovn' || (parts.length === 3 && parts[2] === 'ovn');
};

/** The provider that a NetworkAttachmentDefinition stands for. */
export const providerOf = (namespace: string, name: string) => `${name}.${namespace}.ovn`;
