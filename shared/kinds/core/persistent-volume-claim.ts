import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** The claim a DataVolume fills; what must be gone before an image is. */
export const PersistentVolumeClaim = defineResource(
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  {
    spec: z
      .looseObject({
        resources: z.looseObject({ requests: z.record(z.string(), z.string()).optional() }).optional(),
      })
      .optional(),
    status: z
      .looseObject({ phase: z.string().optional(), capacity: z.record(z.string(), z.string()).optional() })
      .optional(),
  },
);
export type PersistentVolumeClaim = ObjectOf<typeof PersistentVolumeClaim>;
