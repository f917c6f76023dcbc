import { isDeepStrictEqual } from 'node:util';
import { fillIn } from './default-values.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, fieldAt, isJsonObject, objectsAt } from './objects.ts';
import { type Cause, invalid, required } from './schema-cause.ts';

const podDefaults = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

const containerDefaults = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};

export function completePodSpec(spec: unknown) {
  if (!isJsonObject(spec)) return;
  fillIn(spec, podDefaults);
  for (const container of [...objectsAt(spec.containers), ...objectsAt(spec.initContainers)]) {
    fillIn(container, containerDefaults);
    const isLatest = !/[:@][^/]*$/.test(String(container.image)) || String(container.image).endsWith(':latest');
    fillIn(container, { imagePullPolicy: isLatest ? 'Always' : 'IfNotPresent' });
    for (const port of objectsAt(container.ports)) fillIn(port, { protocol: 'TCP' });
  }
}

export function podSpecCauses(spec: unknown, path: string): Cause[] {
  const containers = objectsAt(spec, 'containers');
  if (containers.length === 0) return [required(`${path}.containers`)];
  return containers.flatMap((container, index) => [
    ...(container.name ? [] : [required(`${path}.containers[${index}].name`)]),
    ...(container.image || path === 'spec.template.spec' ? [] : [required(`${path}.containers[${index}].image`)]),
  ]);
}

/** A Pod that is not scheduled or finished is deleted immediately; any other is ended by the simulated kubelet with a grace period of 0. */
export const podRules: Partial<Kind> = {
  prepareForCreate: (pod) => {
    completePodSpec(pod.spec);
    if (isJsonObject(pod.spec)) fillIn(pod.spec, { serviceAccountName: 'default', enableServiceLinks: true });
    pod.status = { phase: 'Pending', qosClass: 'BestEffort' };
  },
  prepareForUpdate: (pod) => completePodSpec(pod.spec),
  validate: (pod) => podSpecCauses(pod.spec, 'spec'),
  gracePeriodSeconds: ({ spec, status }) => {
    const isOver = ['Succeeded', 'Failed'].includes(String(fieldAt(status, ['phase'])));
    if (!fieldAt(spec, ['nodeName']) || isOver) return 0;
    return Number(fieldAt(spec, ['terminationGracePeriodSeconds']) ?? 30);
  },
};

const deploymentDefaults = {
  replicas: 1,
  strategy: { type: 'RollingUpdate' },
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
};

function completeDeployment({ spec }: ApiObject) {
  if (!isJsonObject(spec)) return;
  fillIn(spec, deploymentDefaults);
  if (fieldAt(spec, ['strategy', 'type']) === 'RollingUpdate') {
    fillIn(spec, { strategy: { rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } } });
  }
  completePodSpec(fieldAt(spec, ['template', 'spec']));
}

/** What the selector of a controller and the labels of its Pods must be to each other. */
function selectorCauses({ spec }: ApiObject, old: ApiObject | undefined): Cause[] {
  const selector = fieldAt(spec, ['selector', 'matchLabels']);
  const labels = fieldAt(spec, ['template', 'metadata', 'labels']) ?? {};
  const isMatched =
    isJsonObject(selector) &&
    isJsonObject(labels) &&
    Object.entries(selector).every(([key, value]) => labels[key] === value);
  const before = old && fieldAt(old.spec, ['selector']);
  return [
    ...podSpecCauses(fieldAt(spec, ['template', 'spec']), 'spec.template.spec'),
    ...(isMatched
      ? []
      : [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]),
    ...(before && !isDeepStrictEqual(before, fieldAt(spec, ['selector']))
      ? [invalid('spec.selector', fieldAt(spec, ['selector']), 'field is immutable')]
      : []),
  ];
}

/** A kind that keeps Pods of one template. */
const controllerRules = (complete: (object: ApiObject) => void): Partial<Kind> => ({
  prepareForCreate: (object) => {
    complete(object);
    object.status = {};
  },
  prepareForUpdate: complete,
  validate: (object, old) =>
    fieldAt(object.spec, ['selector']) ? selectorCauses(object, old) : [required('spec.selector')],
});

export const deploymentRules = controllerRules(completeDeployment);

function completeReplicaSet({ spec }: ApiObject) {
  if (!isJsonObject(spec)) return;
  fillIn(spec, { replicas: 1 });
  completePodSpec(fieldAt(spec, ['template', 'spec']));
}

export const replicaSetRules: Partial<Kind> = {
  ...controllerRules(completeReplicaSet),
  // The real server counts the Pods that are to be before anybody has looked.
  prepareForCreate: (object) => {
    completeReplicaSet(object);
    object.status = { replicas: 0 };
  },
};
