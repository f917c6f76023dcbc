import type { FunctionDeclaration, Part, SourceName, Subscription } from '../shared/function.ts';
import type { Resource } from '../shared/kinds/resource.ts';
import { operatorNamespace } from '../shared/operator.ts';
import { brokerName } from './broker.ts';
import { groupOf, labelled, type Manifest, partOf } from './manifest.ts';
import { guessedPlural } from './plural.ts';

type Changed = Extract<Subscription, { on: 'changed' }>;

/** The parts that sources belong to; a cluster with this project has the kinds of the others. */
const parts: Partial<Record<SourceName, Part>> = {
  kubevirt: 'kubevirt',
  'kube-ovn': 'kube-ovn',
  kupenstack: 'openstack',
};

/**
 * The manifests of each ApiServerSource that functions ask for, by its name. Throws for a kind that its source would
 * never watch, and for one that two sources would bring twice.
 */
export function sourceManifests(functions: readonly FunctionDeclaration[]): Map<SourceName, Manifest[]> {
  const subscriptions = functions
    .flatMap(({ on }) => on)
    .filter((subscription): subscription is Changed => subscription.on === 'changed');
  const names = [...new Set(subscriptions.map(({ source }) => source))].sort();
  for (const group of Map.groupBy(subscriptions, kindOf).values()) checkKind(group);
  return new Map(
    names.map((name) => {
      const ofName = subscriptions.filter(({ source }) => source === name);
      return [name, labelled(parts[name], manifestsOf(name, ofName))];
    }),
  );
}

const kindOf = ({ resource }: Changed) => `${resource.apiVersion} ${resource.kind}`;

function checkKind(subscriptions: readonly Changed[]) {
  const sources = new Set(subscriptions.map(({ source }) => source));
  for (const { resource } of subscriptions) {
    if (sources.size > 1) {
      throw new Error(`${resource.kind}: expected one source for all functions, found ${[...sources].join(' and ')}`);
    }
    if (guessedPlural(resource.kind) !== resource.plural) {
      throw new Error(
        `${resource.kind}: expected the plural ${guessedPlural(resource.kind)}, found ${resource.plural}, which an ApiServerSource never watches; let a sweep find its changes`,
      );
    }
  }
}

function manifestsOf(source: SourceName, subscriptions: readonly Changed[]): Manifest[] {
  const isOwn = source === 'own';
  const kinds = [...Map.groupBy(subscriptions, kindOf).values()].sort(byKind);
  const name = `source-${source}`;
  const account = { name, namespace: operatorNamespace };
  const metadata = { ...(isOwn ? account : { name: `${operatorNamespace}-${name}` }), labels: partOf };
  const role = isOwn ? 'Role' : 'ClusterRole';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...account, labels: partOf } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: role,
      metadata,
      rules: rulesOf(kinds.map(([first]) => first).filter((subscription) => subscription !== undefined)),
    } as Manifest,
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: `${role}Binding`,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: role, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    } as Manifest,
    {
      apiVersion: 'sources.knative.dev/v1',
      kind: 'ApiServerSource',
      metadata: { name: source, namespace: operatorNamespace, labels: partOf },
      spec: {
        // Objects hold passwords; a Broker is no place for them.
        mode: 'Reference',
        serviceAccountName: name,
        ...(isOwn ? {} : { namespaceSelector: {} }),
        resources: kinds.flatMap(watchesOf),
        sink: { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: brokerName } },
      },
    } as Manifest,
  ];
}

const byKind = ([a]: Changed[], [b]: Changed[]) => (a && b ? kindOf(a).localeCompare(kindOf(b)) : 0);

/**
 * One watch of a kind for each selector that functions declare, or one without a selector if a function needs all objects. An
 * object that two selectors match sends each event twice.
 */
function watchesOf(subscriptions: readonly Changed[]) {
  const selectors = new Map(subscriptions.map(({ selector }) => [JSON.stringify(selector), selector]));
  const wanted = [...selectors.values()].filter((selector) => selector !== undefined);
  return subscriptions
    .slice(0, 1)
    .flatMap(({ resource: { apiVersion, kind } }) =>
      wanted.length < selectors.size
        ? [{ apiVersion, kind }]
        : wanted.map((selector) => ({ apiVersion, kind, selector: structuredClone(selector) })),
    );
}

const rulesOf = (subscriptions: readonly Changed[]) =>
  [...Map.groupBy(subscriptions, ({ resource }) => groupOf(resource.apiVersion))].map(([group, ofGroup]) => ({
    apiGroups: [group],
    resources: ofGroup.map(({ resource }: { resource: Resource }) => resource.plural),
    verbs: ['get', 'list', 'watch'],
  }));
