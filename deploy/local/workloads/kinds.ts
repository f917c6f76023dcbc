import * as z from 'zod';
import { defineResource, type KubernetesObject, type ObjectOf } from '../../../shared/kinds/resource.ts';
import { conditionOf as conditionAmong } from '../../../shared/kubernetes/conditions.ts';
import { Condition, ContainerStatus } from '../controller/kinds.ts';

const Named = z.looseObject({ name: z.string() });
const Key = z.looseObject({ name: z.string(), key: z.string(), optional: z.boolean().optional() });
const Whole = z.looseObject({ name: z.string(), optional: z.boolean().optional() });

const Container = z.looseObject({
  name: z.string(),
  image: z.string().optional(),
  ports: z
    .array(
      z.looseObject({
        containerPort: z.number(),
        hostPort: z.number().optional(),
        hostIP: z.string().optional(),
        protocol: z.string().optional(),
      }),
    )
    .optional(),
  env: z
    .array(
      Named.extend({
        valueFrom: z.looseObject({ secretKeyRef: Key.optional(), configMapKeyRef: Key.optional() }).optional(),
      }),
    )
    .optional(),
  envFrom: z.array(z.looseObject({ secretRef: Whole.optional(), configMapRef: Whole.optional() })).optional(),
});
export type Container = z.infer<typeof Container>;

const Volume = Named.extend({
  persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional(),
  secret: z.looseObject({ secretName: z.string().optional(), optional: z.boolean().optional() }).optional(),
  configMap: Whole.partial({ name: true }).optional(),
});

const PodSpec = z.looseObject({
  nodeName: z.string().optional(),
  schedulerName: z.string().optional(),
  restartPolicy: z.string().optional(),
  terminationGracePeriodSeconds: z.number().optional(),
  containers: z.array(Container),
  volumes: z.array(Volume).optional(),
});

const PodStatus = z.looseObject({
  phase: z.string().optional(),
  podIP: z.string().optional(),
  startTime: z.string().optional(),
  conditions: z.array(Condition).optional(),
  containerStatuses: z.array(ContainerStatus).optional(),
});
export type PodStatus = z.infer<typeof PodStatus>;

/** A Pod with all that scheduler, kubelet and its controller read of it. */
export const Pod = defineResource(
  { apiVersion: 'v1', kind: 'Pod', plural: 'pods' },
  { spec: PodSpec, status: PodStatus.optional() },
);
export type Pod = ObjectOf<typeof Pod>;

const Template = z.looseObject({
  metadata: z
    .looseObject({
      labels: z.record(z.string(), z.string()).optional(),
      annotations: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  spec: PodSpec,
});
export type Template = z.infer<typeof Template>;

const Selector = z.looseObject({ matchLabels: z.record(z.string(), z.string()).optional() });

const replicaCounts = {
  observedGeneration: z.number().optional(),
  replicas: z.number().optional(),
  readyReplicas: z.number().optional(),
  availableReplicas: z.number().optional(),
  conditions: z.array(Condition).optional(),
};

/** A number of Pods with the same template. */
export const ReplicaSet = defineResource(
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets' },
  {
    spec: z.looseObject({
      replicas: z.number().default(1),
      minReadySeconds: z.number().optional(),
      selector: Selector,
      template: Template,
    }),
    status: z.looseObject(replicaCounts).optional(),
  },
);
export type ReplicaSet = ObjectOf<typeof ReplicaSet>;

const DeploymentStatus = z.looseObject({
  ...replicaCounts,
  updatedReplicas: z.number().optional(),
  unavailableReplicas: z.number().optional(),
});
export type DeploymentStatus = z.infer<typeof DeploymentStatus>;

/** What goes from the Pods of one template to those of the next. */
export const Deployment = defineResource(
  { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments' },
  {
    spec: z.looseObject({
      replicas: z.number().default(1),
      minReadySeconds: z.number().optional(),
      progressDeadlineSeconds: z.number().default(600),
      revisionHistoryLimit: z.number().default(10),
      paused: z.boolean().optional(),
      strategy: z.looseObject({ type: z.string().optional() }).optional(),
      selector: Selector,
      template: Template,
    }),
    status: DeploymentStatus.optional(),
  },
);
export type Deployment = ObjectOf<typeof Deployment>;

const JobStatus = z.looseObject({
  startTime: z.string().optional(),
  completionTime: z.string().optional(),
  active: z.number().optional(),
  ready: z.number().optional(),
  succeeded: z.number().optional(),
  failed: z.number().optional(),
  terminating: z.number().optional(),
  uncountedTerminatedPods: z
    .looseObject({ succeeded: z.array(z.string()).optional(), failed: z.array(z.string()).optional() })
    .optional(),
  conditions: z.array(Condition).optional(),
});
export type JobStatus = z.infer<typeof JobStatus>;

/** Pods that run to their end. */
export const Job = defineResource(
  { apiVersion: 'batch/v1', kind: 'Job', plural: 'jobs' },
  {
    spec: z.looseObject({
      parallelism: z.number().default(1),
      completions: z.number().optional(),
      backoffLimit: z.number().default(6),
      activeDeadlineSeconds: z.number().optional(),
      ttlSecondsAfterFinished: z.number().optional(),
      suspend: z.boolean().optional(),
      template: Template,
    }),
    status: JobStatus.optional(),
  },
);
export type Job = ObjectOf<typeof Job>;

/** What a container reads from a ConfigMap; only whether it exists, and its keys. */
export const ConfigMap = defineResource(
  { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' },
  { data: z.record(z.string(), z.string()).optional() },
);

/** The finalizer by which a Pod of a Job stays until it is counted. */
export const jobTracking = 'batch.kubernetes.io/job-tracking';

export const templateHash = 'pod-template-hash';

export const conditionOf = (object: { status?: { conditions?: Condition[] | undefined } | undefined }, type: string) =>
  conditionAmong(object.status?.conditions, type);

export const isTrue = (object: { status?: { conditions?: Condition[] | undefined } | undefined }, type: string) =>
  conditionOf(object, type)?.status === 'True';

export const isReady = (pod: Pod) => isTrue(pod, 'Ready');

/** Whether its containers have finally ended. */
export const isOver = ({ status }: Pod) => ['Succeeded', 'Failed'].includes(status?.phase ?? '');

export const isGoing = ({ metadata }: KubernetesObject) => metadata.deletionTimestamp !== undefined;

/** Go writes no zero where a field is optional. */
export const positive = (count: number) => (count > 0 ? count : undefined);
