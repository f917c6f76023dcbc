import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

const DataVolumeCondition = ForeignCondition.extend({ lastTransitionTime: z.string().optional() });

/** CDI's DataVolume: one import into one claim. Its failure shows in conditions, hardly ever in its phase. */
export const DataVolume = defineResource(
  { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', plural: 'datavolumes' },
  {
    spec: z.looseObject({}).optional(),
    status: z
      .looseObject({
        phase: z.string().default(''),
        claimName: z.string().optional(),
        progress: z.string().optional(),
        restartCount: z.number().default(0),
        conditions: z.array(DataVolumeCondition).default([]),
      })
      .optional(),
  },
);
export type DataVolume = ObjectOf<typeof DataVolume>;
