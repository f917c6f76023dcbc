import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** The API's own lock object; ours holds the sync slots in an annotation. */
export const Lease = defineResource(
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' },
  { spec: z.looseObject({ acquireTime: z.string().optional(), renewTime: z.string().optional() }).optional() },
);
export type Lease = ObjectOf<typeof Lease>;
