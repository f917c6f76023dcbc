import * as z from 'zod';
import { Condition } from '../condition.ts';
import { defineResource, type ObjectOf } from '../resource.ts';

/** kube-ovn's Subnet: a switch with addresses, on the router of one Vpc. */
export const Subnet = defineResource(
  { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', plural: 'subnets', namespaced: false },
  {
    spec: z.looseObject({ vpc: z.string().optional() }).optional(),
    status: z
      .looseObject({
        conditions: z.array(Condition).default([]),
      })
      .optional(),
  },
);
export type Subnet = ObjectOf<typeof Subnet>;
