import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** Settings as text; ours is the policy. */
export const ConfigMap = defineResource(
  { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  { data: z.record(z.string(), z.string()).optional() },
);
export type ConfigMap = ObjectOf<typeof ConfigMap>;
