import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** What brings events from a Broker to a function. */
export const Trigger = defineResource(
  { apiVersion: 'eventing.knative.dev/v1', kind: 'Trigger', plural: 'triggers' },
  {
    spec: z
      .looseObject({
        broker: z.string().optional(),
        subscriber: z.looseObject({ ref: z.looseObject({ name: z.string() }).optional() }).optional(),
      })
      .optional(),
    status: z
      .looseObject({
        conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).optional(),
      })
      .optional(),
  },
);
export type Trigger = ObjectOf<typeof Trigger>;

/** The function that a Trigger leads to; empty if it leads elsewhere. */
export const functionOf = ({ spec }: { spec?: unknown }) =>
  (spec as { subscriber?: { ref?: { name?: string } } } | undefined)?.subscriber?.ref?.name ?? '';
