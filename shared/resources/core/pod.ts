import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

const State = z.looseObject({
  terminated: z
    .looseObject({ exitCode: z.number().default(0), reason: z.string().default(''), message: z.string().default('') })
    .optional(),
});

/** A Pod, as far as an importer's is read: is it still there, did it fail, did it start again. */
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
        containerStatuses: z
          .array(
            z.looseObject({
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
