import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** kube-ovn's Vpc: a router of its own, so that the same addresses may be used in another. */
export const Vpc = defineResource(
  { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', plural: 'vpcs', namespaced: false },
  { spec: z.looseObject({}).optional(), status: z.looseObject({}).optional() },
);
export type Vpc = ObjectOf<typeof Vpc>;
