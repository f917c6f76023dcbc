import * as z from 'zod';
import { defineResource, type ObjectOf } from '../../../shared/kinds/resource.ts';

const Quantities = z.record(z.string(), z.union([z.string(), z.number()]).transform(String));

const SourceReference = z.looseObject({ apiGroup: z.string().optional(), kind: z.string(), name: z.string() });

const ClaimSpec = z.looseObject({
  accessModes: z.array(z.string()).optional(),
  volumeMode: z.string().optional(),
  storageClassName: z.string().optional(),
  resources: z.looseObject({ requests: Quantities.optional() }).optional(),
  volumeName: z.string().optional(),
  dataSource: SourceReference.optional(),
  dataSourceRef: SourceReference.optional(),
});
export type ClaimSpec = z.infer<typeof ClaimSpec>;

/** A condition with all that any of the controllers says in it. */
export const Condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastUpdateTime: z.string().optional(),
  lastTransitionTime: z.string().optional(),
  lastHeartbeatTime: z.string().optional(),
});
export type Condition = z.infer<typeof Condition>;

const UrlSource = z.looseObject({
  url: z.string().optional(),
  secretRef: z.string().optional(),
  certConfigMap: z.string().optional(),
  checksum: z.string().optional(),
});

const Source = z.looseObject({
  s3: UrlSource.optional(),
  http: UrlSource.optional(),
  gcs: UrlSource.optional(),
  registry: UrlSource.optional(),
  blank: z.looseObject({}).optional(),
  snapshot: z.looseObject({ namespace: z.string().optional(), name: z.string() }).optional(),
});
export type Source = z.infer<typeof Source>;

const DataVolumeStatus = z.looseObject({
  phase: z.string().default(''),
  claimName: z.string().optional(),
  progress: z.string().optional(),
  restartCount: z.number().optional(),
  conditions: z.array(Condition).default([]),
});
export type DataVolumeStatus = z.infer<typeof DataVolumeStatus>;

/** A DataVolume with all that CDI itself reads of it. */
export const DataVolume = defineResource(
  { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', plural: 'datavolumes' },
  {
    spec: z.looseObject({
      source: Source.optional(),
      pvc: ClaimSpec.optional(),
      storage: ClaimSpec.optional(),
      contentType: z.string().optional(),
      preallocation: z.boolean().optional(),
      priorityClassName: z.string().optional(),
      serviceAccountName: z.string().optional(),
    }),
    status: DataVolumeStatus.optional(),
  },
);
export type DataVolume = ObjectOf<typeof DataVolume>;

/** What a claim's data is to be imported from; owned by its DataVolume. */
export const VolumeImportSource = defineResource(
  { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'VolumeImportSource', plural: 'volumeimportsources' },
  { spec: z.looseObject({ source: Source.optional(), contentType: z.string().optional() }) },
);
export type VolumeImportSource = ObjectOf<typeof VolumeImportSource>;

/** What a claim's data is to be cloned from; in the namespace of that source. */
export const VolumeCloneSource = defineResource(
  { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'VolumeCloneSource', plural: 'volumeclonesources' },
  { spec: z.looseObject({ source: SourceReference }) },
);
export type VolumeCloneSource = ObjectOf<typeof VolumeCloneSource>;

/** A PersistentVolumeClaim with all that provisioning and population read of it. */
export const Claim = defineResource(
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' },
  {
    spec: ClaimSpec,
    status: z.looseObject({ phase: z.string().optional(), capacity: Quantities.optional() }).optional(),
  },
);
export type Claim = ObjectOf<typeof Claim>;

/** A PersistentVolume: the disk itself, bound to the claim its claimRef names. */
export const PersistentVolume = defineResource(
  { apiVersion: 'v1', kind: 'PersistentVolume', plural: 'persistentvolumes', namespaced: false },
  {
    spec: z.looseObject({
      capacity: Quantities.optional(),
      accessModes: z.array(z.string()).optional(),
      volumeMode: z.string().optional(),
      storageClassName: z.string().optional(),
      claimRef: z
        .looseObject({ namespace: z.string().default(''), name: z.string(), uid: z.string().optional() })
        .optional(),
      csi: z.looseObject({ driver: z.string(), volumeHandle: z.string() }).optional(),
    }),
    status: z.looseObject({ phase: z.string().optional() }).optional(),
  },
);
export type PersistentVolume = ObjectOf<typeof PersistentVolume>;

/** Which driver makes the volumes of a class, and when. */
export const StorageClass = defineResource(
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses', namespaced: false },
  {
    provisioner: z.string(),
    volumeBindingMode: z.string().optional(),
    reclaimPolicy: z.string().optional(),
    allowVolumeExpansion: z.boolean().optional(),
  },
);
export type StorageClass = ObjectOf<typeof StorageClass>;

/** The credentials of a download. */
export const Secret = defineResource(
  { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' },
  { data: z.record(z.string(), z.string()).optional() },
);

/** Certificates that a download trusts. */
export const ConfigMap = defineResource({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }, {});

const Waiting = z.looseObject({ reason: z.string().default(''), message: z.string().optional() });
const Terminated = z.looseObject({
  exitCode: z.number(),
  reason: z.string().default(''),
  message: z.string().optional(),
});
const ContainerState = z.looseObject({
  waiting: Waiting.optional(),
  running: z.looseObject({ startedAt: z.string().optional() }).optional(),
  terminated: Terminated.optional(),
});
export type ContainerState = z.infer<typeof ContainerState>;

export const ContainerStatus = z.looseObject({
  name: z.string(),
  ready: z.boolean().default(false),
  started: z.boolean().optional(),
  restartCount: z.number().default(0),
  image: z.string().default(''),
  imageID: z.string().default(''),
  state: ContainerState.optional(),
  lastState: ContainerState.optional(),
});
export type ContainerStatus = z.infer<typeof ContainerStatus>;

const EnvironmentVariable = z.looseObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .looseObject({ secretKeyRef: z.looseObject({ name: z.string(), key: z.string() }).optional() })
    .optional(),
});

/** The fields of a Pod that the kubelet and the controllers read. */
export const Pod = defineResource(
  { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  {
    spec: z.looseObject({
      schedulerName: z.string().optional(),
      containers: z
        .array(
          z.looseObject({
            name: z.string(),
            image: z.string().default(''),
            env: z.array(EnvironmentVariable).default([]),
          }),
        )
        .default([]),
      volumes: z
        .array(
          z.looseObject({
            name: z.string(),
            persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional(),
            configMap: z.looseObject({ name: z.string() }).optional(),
          }),
        )
        .default([]),
    }),
    status: z
      .looseObject({
        phase: z.string().default('Pending'),
        reason: z.string().optional(),
        message: z.string().optional(),
        conditions: z.array(Condition).default([]),
        containerStatuses: z.array(ContainerStatus).default([]),
      })
      .optional(),
  },
);
export type Pod = ObjectOf<typeof Pod>;

/** The claims that a Pod mounts. */
export const claimsOf = ({
  spec,
}: {
  spec: { volumes?: readonly { persistentVolumeClaim?: { claimName: string } | undefined }[] | undefined };
}) => (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);

/** The definition of another kind. */
export const CustomResourceDefinition = defineResource(
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
  },
  { spec: z.looseObject({}) },
);
