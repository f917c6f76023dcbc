import { networkPolicy, outward } from '../../knative/network-policies.ts';
import { bound, serviceAccount } from '../../knative/permissions.ts';
import { confined } from '../../knative/services.ts';
import { operatorNamespace, partOf } from '../../shared/operator.ts';

const name = 'helm-hooks';

/** An object that Helm makes for its hooks alone, and deletes after them. */
const forHooks = (events: string, weight: number, object: { metadata?: object }, more: object = {}) => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: {
      'helm.sh/hook': events,
      'helm.sh/hook-weight': String(weight),
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      ...more,
    },
  },
});

const job = (program: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: `ot-functions-${program}`, namespace: operatorNamespace, labels: partOf },
  spec: {
    backoffLimit: 2,
    activeDeadlineSeconds: 900,
    template: {
      metadata: { labels: { ...partOf, 'app.kubernetes.io/name': name } },
      spec: {
        serviceAccountName: name,
        restartPolicy: 'Never',
        '__include pod__': '',
        containers: [
          {
            name: 'hook',
            image: '__include image__',
            '__include pullPolicy__': '',
            args: [program],
            ...confined(),
          },
        ],
      },
    },
  },
});

const rule = (apiGroups: string[], resources: string[], verbs: string[]) => ({ apiGroups, resources, verbs });
const read = ['get', 'list', 'watch'];

/** What the hooks may do, while they run. */
export const hookPermissions = [
  serviceAccount(name),
  ...bound('ClusterRole', name, [
    rule(['apiextensions.k8s.io'], ['customresourcedefinitions'], ['list']),
    rule(['pelotech.ot', 'kupenstack.io'], ['*'], ['get', 'list', 'patch']),
    rule(['eventing.knative.dev'], ['brokers', 'triggers'], ['list']),
    rule(['sources.knative.dev'], ['apiserversources', 'pingsources'], ['list']),
    rule(['serving.knative.dev'], ['services'], ['list']),
    rule(['apps'], ['deployments'], ['list']),
  ]),
  ...bound('Role', name, [
    rule(['eventing.knative.dev'], ['brokers'], read),
    rule(['eventing.knative.dev'], ['triggers'], [...read, 'delete']),
    rule(['sources.knative.dev'], ['apiserversources', 'pingsources'], [...read, 'delete']),
    rule(['messaging.knative.dev'], ['subscriptions'], [...read, 'patch']),
    rule(['messaging.knative.dev'], ['inmemorychannels'], [...read, 'delete']),
    rule(['serving.knative.dev'], ['services'], [...read, 'delete']),
    rule(['apps'], ['deployments'], [...read, 'delete']),
    rule(['coordination.k8s.io'], ['leases'], [...read, 'delete']),
    rule([''], ['pods', 'services'], read),
  ]),
];

/** Helm prints why a Job failed, and not only that it did. */
const saysWhy = { 'helm.sh/hook-output-log-policy': 'hook-failed' };

/** The Jobs that Helm runs before it deletes a release, after it has upgraded or rolled back one, and to test one, and what they need. */
export const hookObjects = (): object[] => [
  ...[
    ...hookPermissions,
    networkPolicy(name, {
      podSelector: { matchLabels: { ...partOf, 'app.kubernetes.io/name': name } },
      policyTypes: ['Ingress', 'Egress'],
      egress: outward,
    }),
  ].map((object) => forHooks('pre-delete,post-upgrade,post-rollback,test', -5, object)),
  forHooks('pre-delete', 0, job('pre-delete'), saysWhy),
  forHooks('post-upgrade,post-rollback', 0, job('post-upgrade'), saysWhy),
  forHooks('test', 0, job('helm-test'), saysWhy),
];
