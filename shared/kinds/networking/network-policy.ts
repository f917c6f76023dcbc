import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** Who may talk to Pods on the network of the cluster. */
export const NetworkPolicy = defineResource(
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies' },
  { spec: z.looseObject({}).optional() },
);
export type NetworkPolicy = ObjectOf<typeof NetworkPolicy>;
