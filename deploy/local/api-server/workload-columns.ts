import type { Column } from './kind.ts';
import { type ApiObject, fieldAt, type JsonObject, objectsAt } from './objects.ts';

export const column = (name: string, cell: Column['cell'], wide = false): Column => ({
  name,
  type: 'string',
  ...(wide && { priority: 1 }),
  cell,
});

export const age: Column = { name: 'Age', type: 'date', cell: ({ metadata }) => metadata.creationTimestamp };

const containerStatuses = (pod: ApiObject) => objectsAt(pod, 'status', 'containerStatuses');

/** What kubectl calls a pod's status: why a container waits or ended where that says more than the phase. */
function podStatus(pod: ApiObject): string {
  if (pod.metadata.deletionTimestamp) return 'Terminating';
  const reasons = containerStatuses(pod).map(
    ({ state }) =>
      fieldAt(state, ['waiting', 'reason']) ??
      fieldAt(state, ['terminated', 'reason']) ??
      (fieldAt(state, ['terminated']) && `ExitCode:${fieldAt(state, ['terminated', 'exitCode'])}`),
  );
  const found = reasons.find(Boolean) ?? fieldAt(pod, ['status', 'reason']) ?? fieldAt(pod, ['status', 'phase']);
  return String(found ?? '');
}

const readyCount = (pod: ApiObject) =>
  `${containerStatuses(pod).filter((status) => status.ready).length}/${objectsAt(pod, 'spec', 'containers').length}`;

const restarts = (pod: ApiObject) =>
  String(containerStatuses(pod).reduce((sum, status) => sum + Number(status.restartCount ?? 0), 0));

const orNone = (path: string[]) => (object: ApiObject) => fieldAt(object, path) || '<none>';

export const podColumns: Column[] = [
  column('Ready', readyCount),
  column('Status', podStatus),
  column('Restarts', restarts),
  age,
  column('IP', orNone(['status', 'podIP']), true),
  column('Node', orNone(['spec', 'nodeName']), true),
  column('Nominated Node', orNone(['status', 'nominatedNodeName']), true),
  column('Readiness Gates', () => '<none>', true),
];

const templateOf = (object: ApiObject, field: string) =>
  objectsAt(object, 'spec', 'template', 'spec', 'containers')
    .map((container) => container[field])
    .join(',');

const selectorOf = (deployment: ApiObject) =>
  Object.entries((fieldAt(deployment, ['spec', 'selector', 'matchLabels']) ?? {}) as JsonObject)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** What the Pods of a controller are made of. */
export const templateColumns: Column[] = [
  column('Containers', (each) => templateOf(each, 'name'), true),
  column('Images', (each) => templateOf(each, 'image'), true),
  column('Selector', selectorOf, true),
];

const replicas = (deployment: ApiObject, field: string) => Number(fieldAt(deployment, ['status', field]) ?? 0);

export const deploymentColumns: Column[] = [
  column('Ready', (each) => `${replicas(each, 'readyReplicas')}/${fieldAt(each, ['spec', 'replicas']) ?? 1}`),
  column('Up-to-date', (each) => replicas(each, 'updatedReplicas')),
  column('Available', (each) => replicas(each, 'availableReplicas')),
  age,
  ...templateColumns,
];

const numberAt = (name: string, ...path: string[]): Column => ({
  ...column(name, (each) => Number(fieldAt(each, path) ?? 0)),
  type: 'integer',
});

export const replicaSetColumns: Column[] = [
  numberAt('Desired', 'spec', 'replicas'),
  numberAt('Current', 'status', 'replicas'),
  numberAt('Ready', 'status', 'readyReplicas'),
  age,
  ...templateColumns,
];
