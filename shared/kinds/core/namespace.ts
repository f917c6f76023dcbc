import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

/** A Namespace: whether it exists and stays, and what its deletion waits for. */
export const Namespace = defineResource(
  { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  {
    status: z
      .looseObject({
        conditions: z.array(ForeignCondition).optional(),
      })
      .optional(),
  },
);
export type Namespace = ObjectOf<typeof Namespace>;
