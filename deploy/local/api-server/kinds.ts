import { reviewKinds } from './access-review.ts';
import { builtInColumns } from './built-in-columns.ts';
import { builtInRules } from './built-in-rules.ts';
import { builtInSchema } from './built-in-schema.ts';
import { newerEvents } from './event-versions.ts';
import type { Kind } from './kind.ts';
import { replicas } from './scale.ts';

type Row = Pick<Kind, 'kind' | 'plural'> & Partial<Kind>;

const defaults = {
  group: '',
  version: 'v1',
  shortNames: [],
  categories: [],
  namespaced: true,
  custom: false,
  storageVersion: 'v1',
  statusSubresource: false,
  hasGeneration: false,
  replacesUnconditionally: true,
  createsOnUpdate: false,
  returnsDeleted: false,
  nameRule: 'subdomain',
  selectableFields: [],
} as const satisfies Partial<Kind>;

const rbac = { group: 'rbac.authorization.k8s.io', nameRule: 'path segment', createsOnUpdate: true } as const;

const rows: Row[] = [
  {
    kind: 'Namespace',
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    plural: 'namespaces',
    shortNames: ['ns'],
    namespaced: false,
    nameRule: 'label',
    statusSubresource: true,
    returnsDeleted: true,
    selectableFields: ['status.phase'],
  },
  { kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] },
  { kind: 'Secret', plural: 'secrets', selectableFields: ['type'] },
  {
    kind: 'Service',
    plural: 'services',
    shortNames: ['svc'],
    categories: ['all'],
    nameRule: 'label1035',
    statusSubresource: true,
    createsOnUpdate: true,
    returnsDeleted: true,
    selectableFields: ['spec.clusterIP', 'spec.type'],
  },
  { kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'], returnsDeleted: true },
  {
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    statusSubresource: true,
    hasGeneration: true,
    returnsDeleted: true,
    selectableFields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
  },
  {
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    shortNames: ['pvc'],
    statusSubresource: true,
    returnsDeleted: true,
  },
  {
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    createsOnUpdate: true,
    selectableFields: [
      ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
        (field) => `involvedObject.${field}`,
      ),
      ...['reason', 'reportingComponent', 'source', 'type'],
    ],
  },
  {
    kind: 'Node',
    plural: 'nodes',
    shortNames: ['no'],
    namespaced: false,
    statusSubresource: true,
    selectableFields: ['spec.unschedulable'],
  },
  {
    group: 'apps',
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ['all'],
    statusSubresource: true,
    scale: replicas,
    hasGeneration: true,
  },
  {
    group: 'apps',
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    categories: ['all'],
    statusSubresource: true,
    scale: replicas,
    hasGeneration: true,
    selectableFields: ['status.replicas'],
  },
  {
    group: 'batch',
    kind: 'Job',
    plural: 'jobs',
    categories: ['all'],
    statusSubresource: true,
    hasGeneration: true,
    orphansDependents: true,
    selectableFields: ['status.successful'],
  },
  {
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    hasGeneration: true,
  },
  {
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    categories: ['api-extensions'],
    namespaced: false,
    statusSubresource: true,
    hasGeneration: true,
  },
  {
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    categories: ['api-extensions'],
    namespaced: false,
    hasGeneration: true,
  },
  ...reviewKinds,
  {
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    createsOnUpdate: true,
    replacesUnconditionally: false,
  },
  newerEvents,
  { ...rbac, kind: 'Role', plural: 'roles' },
  { ...rbac, kind: 'RoleBinding', plural: 'rolebindings' },
  { ...rbac, kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  { ...rbac, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
  {
    group: 'storage.k8s.io',
    kind: 'StorageClass',
    plural: 'storageclasses',
    shortNames: ['sc'],
    namespaced: false,
    returnsDeleted: true,
  },
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    replacesUnconditionally: false,
    namespaced: false,
    statusSubresource: true,
    hasGeneration: true,
  },
];

/** The built-in kinds: those that functions, stories and kubectl use. */
export const builtInKinds: readonly Kind[] = rows.map((row) => ({
  ...defaults,
  singular: row.kind.toLowerCase(),
  columns: builtInColumns(row.kind),
  ...builtInSchema(row.kind),
  ...builtInRules[row.kind],
  ...row,
}));
