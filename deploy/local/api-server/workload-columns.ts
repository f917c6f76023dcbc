import type { Column } from './kind.ts';
import { type ApiObject, fieldAt, isJsonObject, type JsonObject } from './objects.ts';

const listAt = (object: unknown, ...path: string[]): JsonObject[] => {
  const list = fieldAt(object, path);
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
};

const column = (name: string, cell: Column['cell'], wide = false): Column => ({
  name,
  type: 'string',
  ...(wide && { priority: 1 }),
  cell,
});

const age: Column = { name: 'Age', type: 'date', cell: ({ metadata }) => metadata.creationTimestamp };

const containerStatuses = (pod: ApiObject) => listAt(pod, 'status', 'containerStatuses');

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
  `${containerStatuses(pod).filter((status) => status.ready).length}/${listAt(pod, 'spec', 'containers').length}`;

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

const containersOf = (deployment: ApiObject) => listAt(deployment, 'spec', 'template', 'spec', 'containers');

const selectorOf = (deployment: ApiObject) =>
  Object.entries((fieldAt(deployment, ['spec', 'selector', 'matchLabels']) ?? {}) as JsonObject)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

const replicas = (deployment: ApiObject, field: string) => Number(fieldAt(deployment, ['status', field]) ?? 0);

export const deploymentColumns: Column[] = [
  column('Ready', (each) => `${replicas(each, 'readyReplicas')}/${fieldAt(each, ['spec', 'replicas']) ?? 1}`),
  column('Up-to-date', (each) => replicas(each, 'updatedReplicas')),
  column('Available', (each) => replicas(each, 'availableReplicas')),
  age,
  column(
    'Containers',
    (each) =>
      containersOf(each)
        .map(({ name }) => name)
        .join(','),
    true,
  ),
  column(
    'Images',
    (each) =>
      containersOf(each)
        .map(({ image }) => image)
        .join(','),
    true,
  ),
  column('Selector', selectorOf, true),
];
