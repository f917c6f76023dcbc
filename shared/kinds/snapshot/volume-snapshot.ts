import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** The snapshotter's VolumeSnapshot: ready once `readyToUse`; an error beside it is never final. */
export const VolumeSnapshot = defineResource(
  { apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshot', plural: 'volumesnapshots' },
  {
    spec: z
      .looseObject({
        volumeSnapshotClassName: z.string().optional(),
        source: z.looseObject({ persistentVolumeClaimName: z.string().optional() }).optional(),
      })
      .optional(),
    status: z
      .looseObject({
        readyToUse: z.boolean().optional(),
        boundVolumeSnapshotContentName: z.string().optional(),
        restoreSize: z.string().optional(),
        error: z.looseObject({ message: z.string().default(''), time: z.string().optional() }).optional(),
      })
      .optional(),
  },
);
export type VolumeSnapshot = ObjectOf<typeof VolumeSnapshot>;
