import { jobColumns } from './job-columns.ts';
import type { Column } from './kind.ts';
import { type ApiObject, fieldAt, isJsonObject, objectsAt } from './objects.ts';
import { age, column, deploymentColumns, podColumns, replicaSetColumns } from './workload-columns.ts';

/** The columns `kubectl get` shows of a built-in kind beside its name, as the real server prints them. */
export const builtInColumns = (kind: string): Column[] => columns[kind] ?? [age];

const text = (name: string, path: string, options: { otherwise?: unknown; wide?: boolean } = {}): Column => ({
  name,
  type: 'string',
  ...(options.wide && { priority: 1 }),
  cell: (object) => fieldAt(object, path.split('.')) ?? options.otherwise ?? '',
});

// A string, as the server sends it: kubectl prints this date as it is.
const createdAt = column('Created At', ({ metadata }) => metadata.creationTimestamp);

const sizeOf = (value: unknown) => (isJsonObject(value) ? Object.keys(value).length : 0);

const inPairs = (labels: unknown) =>
  isJsonObject(labels) && sizeOf(labels) > 0
    ? Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(',')
    : '<none>';

const shortMode: Record<string, string> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessModes(claim: ApiObject): string {
  const modes = fieldAt(claim, ['status', 'accessModes']);
  return Array.isArray(modes) ? modes.map((mode) => shortMode[String(mode)] ?? mode).join(',') : '';
}

const servicePorts = (service: ApiObject) =>
  objectsAt(service, 'spec', 'ports')
    .map(({ port, nodePort, protocol = 'TCP' }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol}`)
    .join(',') || '<none>';

const subjects = (kind: string) => (binding: ApiObject) =>
  objectsAt(binding, 'subjects')
    .filter((subject) => subject.kind === kind)
    .map(({ namespace, name }) => (namespace ? `${namespace}/${name}` : name))
    .join(', ');

const roleRef = (binding: ApiObject) =>
  `${fieldAt(binding, ['roleRef', 'kind'])}/${fieldAt(binding, ['roleRef', 'name'])}`;

const bindingColumns = [
  column('Role', roleRef),
  age,
  column('Users', subjects('User'), true),
  column('Groups', subjects('Group'), true),
  column('ServiceAccounts', subjects('ServiceAccount'), true),
];

const lastSeen = (event: ApiObject) =>
  fieldAt(event, ['series', 'lastObservedTime']) ?? event.lastTimestamp ?? event.eventTime ?? event.firstTimestamp;

function involved(event: ApiObject): string {
  const { kind, name } = (isJsonObject(event.involvedObject) ? event.involvedObject : {}) as Record<string, string>;
  return `${(kind ?? '').toLowerCase()}/${name ?? ''}`;
}

const eventSource = (event: ApiObject) =>
  [
    fieldAt(event, ['source', 'component']) || event.reportingComponent,
    fieldAt(event, ['source', 'host']) || event.reportingInstance,
  ]
    .filter(Boolean)
    .join(', ');

const nodeStatus = (node: ApiObject) => {
  const ready = objectsAt(node, 'status', 'conditions').find((condition) => condition.type === 'Ready');
  const words = [!ready ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  return [...words, ...(fieldAt(node, ['spec', 'unschedulable']) ? ['SchedulingDisabled'] : [])].join(',');
};

const nodeRoles = ({ metadata }: ApiObject) =>
  Object.keys(metadata.labels ?? {})
    .filter((label) => label.startsWith('node-role.kubernetes.io/'))
    .map((label) => label.slice('node-role.kubernetes.io/'.length))
    .sort()
    .join(',') || '<none>';

const nodeAddress = (type: string) => (node: ApiObject) =>
  objectsAt(node, 'status', 'addresses').find((address) => address.type === type)?.address ?? '<none>';

const columns: Record<string, Column[]> = {
  Pod: podColumns,
  Deployment: deploymentColumns,
  ReplicaSet: replicaSetColumns,
  Job: jobColumns,
  NetworkPolicy: [
    column('Pod-Selector', (policy) => inPairs(fieldAt(policy, ['spec', 'podSelector', 'matchLabels']))),
    age,
  ],
  Namespace: [text('Status', 'status.phase'), age],
  ConfigMap: [column('Data', ({ data, binaryData }) => sizeOf(data) + sizeOf(binaryData)), age],
  Secret: [text('Type', 'type'), column('Data', ({ data }) => sizeOf(data)), age],
  Service: [
    text('Type', 'spec.type'),
    text('Cluster-IP', 'spec.clusterIP', { otherwise: '<none>' }),
    column('External-IP', () => '<none>'),
    column('Port(s)', servicePorts),
    age,
    column('Selector', (service) => inPairs(fieldAt(service, ['spec', 'selector'])), true),
  ],
  ServiceAccount: [column('Secrets', ({ secrets }) => (Array.isArray(secrets) ? secrets.length : 0)), age],
  PersistentVolumeClaim: [
    column('Status', (claim) =>
      claim.metadata.deletionTimestamp ? 'Terminating' : fieldAt(claim, ['status', 'phase']),
    ),
    text('Volume', 'spec.volumeName'),
    text('Capacity', 'status.capacity.storage'),
    column('Access Modes', accessModes),
    text('StorageClass', 'spec.storageClassName'),
    text('VolumeAttributesClass', 'spec.volumeAttributesClassName', { otherwise: '<unset>' }),
    age,
    text('VolumeMode', 'spec.volumeMode', { otherwise: '<unset>', wide: true }),
  ],
  Event: [
    { name: 'Last Seen', type: 'date', cell: lastSeen },
    text('Type', 'type'),
    text('Reason', 'reason'),
    column('Object', involved),
    text('Subobject', 'involvedObject.fieldPath', { wide: true }),
    column('Source', eventSource, true),
    column('Message', ({ message }) => String(message ?? '').trim()),
    {
      name: 'First Seen',
      type: 'date',
      priority: 1,
      cell: ({ firstTimestamp, eventTime }) => firstTimestamp ?? eventTime,
    },
    text('Count', 'count', { otherwise: 1, wide: true }),
    { ...column('Name', ({ metadata }) => metadata.name, true), format: 'name' },
  ],
  Node: [
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    age,
    text('Version', 'status.nodeInfo.kubeletVersion'),
    column('Internal-IP', nodeAddress('InternalIP'), true),
    column('External-IP', nodeAddress('ExternalIP'), true),
    text('OS-Image', 'status.nodeInfo.osImage', { otherwise: '<unknown>', wide: true }),
    text('Kernel-Version', 'status.nodeInfo.kernelVersion', { otherwise: '<unknown>', wide: true }),
    text('Container-Runtime', 'status.nodeInfo.containerRuntimeVersion', { otherwise: '<unknown>', wide: true }),
  ],
  Lease: [text('Holder', 'spec.holderIdentity'), age],
  Role: [createdAt],
  ClusterRole: [createdAt],
  RoleBinding: bindingColumns,
  ClusterRoleBinding: bindingColumns,
  StorageClass: [
    text('Provisioner', 'provisioner'),
    text('ReclaimPolicy', 'reclaimPolicy', { otherwise: 'Delete' }),
    text('VolumeBindingMode', 'volumeBindingMode', { otherwise: 'Immediate' }),
    text('AllowVolumeExpansion', 'allowVolumeExpansion', { otherwise: false }),
    age,
  ],
  CustomResourceDefinition: [createdAt],
  ValidatingAdmissionPolicy: [
    { ...column('Validations', ({ spec }) => objectsAt(spec, 'validations').length), type: 'integer' },
    text('ParamKind', 'spec.paramKind.kind', { otherwise: '<unset>' }),
    age,
  ],
  ValidatingAdmissionPolicyBinding: [
    text('PolicyName', 'spec.policyName'),
    text('ParamRef', 'spec.paramRef.name', { otherwise: '<unset>' }),
    age,
  ],
};
