import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

/** Kubernetes' Job: a Pod that has to come to its end; what it runs cannot be changed. */
export const Job = defineResource(
  { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' },
  {
    spec: z.looseObject({}).optional(),
    status: z
      .looseObject({
        active: z.number().default(0),
        failed: z.number().default(0),
        succeeded: z.number().default(0),
        conditions: z.array(ForeignCondition).default([]),
      })
      .optional(),
  },
);
export type Job = ObjectOf<typeof Job>;
