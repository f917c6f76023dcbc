import { guessedPlural } from '../../../knative/plural.ts';
import { type KubernetesObject, ObjectMeta, type Resource } from '../../../shared/kinds/resource.ts';

/** Any object as the API server returns it: the code that needs a field checks its type. */
export type AnyObject = KubernetesObject & { spec?: unknown; status?: unknown; data?: unknown };

/** A kind whose objects have only metadata in common. */
export function anyOf(
  apiVersion: string,
  kind: string,
  { plural = guessedPlural(kind), namespaced = true }: { plural?: string; namespaced?: boolean } = {},
): Resource<AnyObject> {
  // The items of a list have no kind.
  const parse = (value: unknown): AnyObject => {
    const object = value as AnyObject;
    return { ...object, apiVersion, kind, metadata: ObjectMeta.parse(object.metadata) };
  };
  return { apiVersion, kind, plural, namespaced, parse };
}

/** The resource of a manifest; one with a namespace is namespaced, as in every generated manifest. */
export const resourceOf = ({ apiVersion, kind, metadata }: KubernetesObject): Resource<AnyObject> =>
  anyOf(apiVersion, kind, { namespaced: metadata.namespace !== undefined });

const rbac = 'rbac.authorization.k8s.io/v1';
const admission = 'admissionregistration.k8s.io/v1';
const clusterWide = { namespaced: false };

export const Namespace = anyOf('v1', 'Namespace', clusterWide);
export const Definition = anyOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', clusterWide);
export const ConfigMap = anyOf('v1', 'ConfigMap');
export const Pod = anyOf('v1', 'Pod');
export const Service = anyOf('v1', 'Service');
export const Deployment = anyOf('apps/v1', 'Deployment');
export const KnativeService = anyOf('serving.knative.dev/v1', 'Service');
export const Broker = anyOf('eventing.knative.dev/v1', 'Broker');
export const Trigger = anyOf('eventing.knative.dev/v1', 'Trigger');
export const PingSource = anyOf('sources.knative.dev/v1', 'PingSource');
export const ApiServerSource = anyOf('sources.knative.dev/v1', 'ApiServerSource');
export const Subscription = anyOf('messaging.knative.dev/v1', 'Subscription');
export const InMemoryChannel = anyOf('messaging.knative.dev/v1', 'InMemoryChannel');
/** What runs the functions. */
export const workloads = [KnativeService, Deployment] as const;
export const DataVolume = anyOf('cdi.kubevirt.io/v1beta1', 'DataVolume');
export const StorageProfile = anyOf('cdi.kubevirt.io/v1beta1', 'StorageProfile', clusterWide);
export const StorageClass = anyOf('storage.k8s.io/v1', 'StorageClass', clusterWide);
export const VolumeSnapshotClass = anyOf('snapshot.storage.k8s.io/v1', 'VolumeSnapshotClass', clusterWide);

/**
 * The stages of an installation, in this order: a receiver is ready before its sender. Functions come before the Broker, which is Ready
 * only after the function for its dead letters exists.
 */
export const stages = [
  'definitions',
  'namespace',
  'permissions',
  'functions',
  'broker',
  'triggers',
  'sources',
] as const;
export type Stage = (typeof stages)[number];

/** Every kind of our manifests, by stage; objects that are no longer generated are among these kinds. */
export const kindsOf: Readonly<Record<Exclude<Stage, 'definitions' | 'namespace'>, readonly Resource<AnyObject>[]>> = {
  permissions: [
    anyOf('v1', 'ServiceAccount'),
    anyOf(rbac, 'Role'),
    anyOf(rbac, 'RoleBinding'),
    anyOf(rbac, 'ClusterRole', clusterWide),
    anyOf(rbac, 'ClusterRoleBinding', clusterWide),
    anyOf(admission, 'ValidatingAdmissionPolicy', { ...clusterWide, plural: 'validatingadmissionpolicies' }),
    anyOf(admission, 'ValidatingAdmissionPolicyBinding', clusterWide),
  ],
  broker: [Broker, anyOf('eventing.knative.dev/v1beta2', 'EventType')],
  functions: [
    KnativeService,
    Deployment,
    Service,
    anyOf('autoscaling/v2', 'HorizontalPodAutoscaler'),
    anyOf('policy/v1', 'PodDisruptionBudget', { plural: 'poddisruptionbudgets' }),
    anyOf('networking.k8s.io/v1', 'NetworkPolicy'),
  ],
  triggers: [Trigger],
  sources: [PingSource, ApiServerSource],
};

export function stageOf({ apiVersion, kind }: KubernetesObject): Stage {
  if (kind === Definition.kind) return 'definitions';
  if (kind === Namespace.kind || kind === ConfigMap.kind || kind === 'Secret') return 'namespace';
  const found = Object.entries(kindsOf).find(([, kinds]) =>
    kinds.some((resource) => resource.apiVersion === apiVersion && resource.kind === kind),
  );
  return (found?.[0] as Stage | undefined) ?? 'functions';
}

/** "Trigger start-sync" */
export const formatObject = ({ kind, metadata }: KubernetesObject) => `${kind} ${metadata.name}`;

/** The same with its namespace. */
export const formatPlace = (object: KubernetesObject) =>
  object.metadata.namespace === undefined
    ? formatObject(object)
    : `${formatObject(object)} in ${object.metadata.namespace}`;
