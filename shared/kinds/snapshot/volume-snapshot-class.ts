import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** Which driver cuts a snapshot, and what becomes of it when its VolumeSnapshot goes. */
export const VolumeSnapshotClass = defineResource(
  {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotClass',
    plural: 'volumesnapshotclasses',
    namespaced: false,
  },
  { driver: z.string().default(''), deletionPolicy: z.string().optional() },
);
export type VolumeSnapshotClass = ObjectOf<typeof VolumeSnapshotClass>;
