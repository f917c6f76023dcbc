import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** The claim a DataVolume fills; what must be gone before an image is. */
export const PersistentVolumeClaim = defineResource(
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  { status: z.looseObject({ phase: z.string().optional() }).optional() },
);
export type PersistentVolumeClaim = ObjectOf<typeof PersistentVolumeClaim>;
