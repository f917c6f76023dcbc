import * as z from 'zod';
import { defineResource, type ObjectOf } from '../../../shared/kinds/resource.ts';

const SnapshotError = z.looseObject({ message: z.string().optional(), time: z.string().optional() });

const VolumeSnapshotStatus = z.looseObject({
  boundVolumeSnapshotContentName: z.string().optional(),
  readyToUse: z.boolean().optional(),
  creationTime: z.string().optional(),
  restoreSize: z.union([z.string(), z.number()]).transform(String).optional(),
  error: SnapshotError.optional(),
});
export type VolumeSnapshotStatus = z.infer<typeof VolumeSnapshotStatus>;

/** A VolumeSnapshot with all that the snapshot controller reads of it. */
export const VolumeSnapshot = defineResource(
  { apiVersion: 'snapshot.storage.k8s.io/v1', kind: 'VolumeSnapshot', plural: 'volumesnapshots' },
  {
    spec: z.looseObject({
      volumeSnapshotClassName: z.string().optional(),
      source: z
        .looseObject({
          persistentVolumeClaimName: z.string().optional(),
          volumeSnapshotContentName: z.string().optional(),
        })
        .default({}),
    }),
    status: VolumeSnapshotStatus.optional(),
  },
);
export type VolumeSnapshot = ObjectOf<typeof VolumeSnapshot>;

/** The snapshot in the storage itself; made for a VolumeSnapshot by the controller, filled in by the driver's sidecar. */
export const VolumeSnapshotContent = defineResource(
  {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    plural: 'volumesnapshotcontents',
    namespaced: false,
  },
  {
    spec: z.looseObject({
      deletionPolicy: z.string(),
      driver: z.string(),
      source: z.looseObject({ volumeHandle: z.string().optional(), snapshotHandle: z.string().optional() }).default({}),
      volumeSnapshotClassName: z.string().optional(),
      volumeSnapshotRef: z.looseObject({ name: z.string(), namespace: z.string(), uid: z.string().optional() }),
    }),
    status: z
      .looseObject({
        snapshotHandle: z.string().optional(),
        readyToUse: z.boolean().optional(),
        creationTime: z.number().optional(),
        restoreSize: z.number().optional(),
        error: SnapshotError.optional(),
      })
      .optional(),
  },
);
export type VolumeSnapshotContent = ObjectOf<typeof VolumeSnapshotContent>;

const prefix = 'snapshot.storage.kubernetes.io/';

/** The finalizers of the external-snapshotter: who must wait for whom. */
export const finalizer = {
  asSource: `${prefix}volumesnapshot-as-source-protection`,
  bound: `${prefix}volumesnapshot-bound-protection`,
  content: `${prefix}volumesnapshotcontent-bound-protection`,
  claim: `${prefix}pvc-as-source-protection`,
} as const;

export const snapshotAnnotation = {
  isDefaultClass: `${prefix}is-default-class`,
  beingDeleted: `${prefix}volumesnapshot-being-deleted`,
  beingCreated: `${prefix}volumesnapshot-being-created`,
  /** Ours: how far the import into the volume was when it was cut, so that a test can tell half an image. */
  importWhenCut: 'ot-simulated/import-when-cut',
} as const;

export const contentName = (snapshot: VolumeSnapshot) => `snapcontent-${snapshot.metadata.uid}`;
