import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

/** kube-ovn's Subnet: a switch with addresses, on the router of one Vpc. */
export const Subnet = defineResource(
  { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', plural: 'subnets', namespaced: false },
  {
    spec: z.looseObject({ vpc: z.string().optional() }).optional(),
    status: z
      .looseObject({
        conditions: z.array(ForeignCondition).default([]),
      })
      .optional(),
  },
);
export type Subnet = ObjectOf<typeof Subnet>;
