import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** A name and a port in front of Pods. */
export const Service = defineResource(
  { apiVersion: 'v1', kind: 'Service', plural: 'services' },
  { spec: z.looseObject({}).optional() },
);
export type Service = ObjectOf<typeof Service>;
