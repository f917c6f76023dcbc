import * as z from 'zod';
import { Condition } from '../condition.ts';
import { defineResource, type ObjectOf } from '../resource.ts';

/** Where objects live: whether it is there and stays, and what it waits for when it goes. */
export const Namespace = defineResource(
  { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  {
    status: z
      .looseObject({
        conditions: z.array(Condition).optional(),
      })
      .optional(),
  },
);
export type Namespace = ObjectOf<typeof Namespace>;
