import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

/** Kubernetes' Deployment: how many Pods there should be, and whether they came up. */
export const Deployment = defineResource(
  { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
  {
    spec: z.looseObject({ replicas: z.number().optional() }).optional(),
    status: z
      .looseObject({
        observedGeneration: z.number().default(0),
        replicas: z.number().default(0),
        updatedReplicas: z.number().default(0),
        availableReplicas: z.number().default(0),
        conditions: z.array(ForeignCondition).default([]),
      })
      .optional(),
  },
);
export type Deployment = ObjectOf<typeof Deployment>;
