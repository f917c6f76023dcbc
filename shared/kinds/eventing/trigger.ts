import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** What brings events from the Broker to a function; named as the function is. */
export const Trigger = defineResource(
  { apiVersion: 'eventing.knative.dev/v1', kind: 'Trigger', plural: 'triggers' },
  {
    status: z
      .looseObject({
        conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
      })
      .optional(),
  },
);
export type Trigger = ObjectOf<typeof Trigger>;
