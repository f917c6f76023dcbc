import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

const State = z.looseObject({
  running: z.looseObject({ startedAt: z.string().default('') }).optional(),
  waiting: z.looseObject({ reason: z.string().default(''), message: z.string().default('') }).optional(),
  terminated: z
    .looseObject({ exitCode: z.number().default(0), reason: z.string().default(''), message: z.string().default('') })
    .optional(),
});

/** A Pod: is it still there, did it fail, did it start again, what does it wait for. */
export const Pod = defineResource(
  { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  {
    spec: z
      .looseObject({
        volumes: z
          .array(
            z.looseObject({ persistentVolumeClaim: z.looseObject({ claimName: z.string().default('') }).optional() }),
          )
          .default([]),
      })
      .optional(),
    status: z
      .looseObject({
        phase: z.string().default(''),
        reason: z.string().optional(),
        message: z.string().optional(),
        conditions: z.array(ForeignCondition).default([]),
        containerStatuses: z
          .array(
            z.looseObject({
              name: z.string().default(''),
              restartCount: z.number().default(0),
              state: State.optional(),
              lastState: State.optional(),
            }),
          )
          .default([]),
      })
      .optional(),
  },
);
export type Pod = ObjectOf<typeof Pod>;
