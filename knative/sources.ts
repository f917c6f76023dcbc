import type { FunctionDeclaration, Part, SourceName, Subscription, System } from '../shared/function.ts';
import type { Resource } from '../shared/kinds/resource.ts';
import { operatorNamespace, partOf } from '../shared/operator.ts';
import { brokerSink, systemsOf } from './broker.ts';
import { groupOf, labelled, type Manifest } from './manifest.ts';
import { bound, serviceAccount } from './permissions.ts';
import { guessedPlural } from './plural.ts';

type Changed = Extract<Subscription, { on: 'changed' }>;

/** The parts that sources belong to; a cluster with this project has the kinds of the others. */
const parts: Partial<Record<SourceName, Part>> = {
  kubevirt: 'kubevirt',
  'kube-ovn': 'kube-ovn',
  kupenstack: 'openstack',
};

/** What is to be watched: for which system, and whether for nothing but functions of one part. */
type Watched = Changed & { system: System | undefined; part: Part | undefined };

/**
 * The manifests of the ApiServerSources that functions ask for, one for each system that watches kinds of an operator, by the operator.
 * Throws for a kind that its source would never watch, and for a kind that two sources of a system would bring twice.
 */
export function sourceManifests(functions: readonly FunctionDeclaration[]): Map<SourceName, Manifest[]> {
  const watched = functions.flatMap(({ on, system, part }) =>
    on
      .filter((subscription): subscription is Changed => subscription.on === 'changed')
      .map((subscription): Watched => ({ ...subscription, system, part })),
  );
  const names = [...new Set(watched.map(({ source }) => source))].sort();
  for (const group of Map.groupBy(watched, kindOf).values()) checkKind(group);
  return new Map(
    names.map((name) => {
      const ofName = watched.filter(({ source }) => source === name);
      const sources = systemsOf(functions).flatMap((system) => {
        const ofSystem = ofName.filter((one) => one.system === system);
        return ofSystem.length > 0 ? labelled(partOfAll(ofSystem), [sourceOf(name, system, ofSystem)]) : [];
      });
      return [name, labelled(parts[name], [...accountOf(name, ofName), ...sources])];
    }),
  );
}

/** The part that all subscribers belong to, if they do: without them a source brings nothing to anybody. */
function partOfAll(watched: readonly Watched[]): Part | undefined {
  const [part, ...others] = new Set(watched.map((one) => one.part));
  return others.length === 0 ? part : undefined;
}

const kindOf = ({ resource }: Changed) => `${resource.apiVersion} ${resource.kind}`;

function checkKind(subscriptions: readonly Changed[]) {
  const sources = new Set(subscriptions.map(({ source }) => source));
  for (const { resource } of subscriptions) {
    if (sources.size > 1) {
      throw new Error(`${resource.kind}: expected one operator for all functions, found ${[...sources].join(' and ')}`);
    }
    if (guessedPlural(resource.kind) !== resource.plural) {
      throw new Error(
        `${resource.kind}: expected the plural ${guessedPlural(resource.kind)}, found ${resource.plural}, which an ApiServerSource never watches; let a sweep find its changes`,
      );
    }
  }
}

const groupsOf = (subscriptions: readonly Changed[]) => [...Map.groupBy(subscriptions, kindOf).values()].sort(byKind);

const accountName = (source: SourceName) => `source-${source}`;

/** The ServiceAccount of all sources of an operator's kinds, with what it may read. */
function accountOf(source: SourceName, subscriptions: readonly Changed[]): Manifest[] {
  const name = accountName(source);
  const watched = groupsOf(subscriptions).flatMap(([first]) => first ?? []);
  return [serviceAccount(name), ...bound(source === 'own' ? 'Role' : 'ClusterRole', name, rulesOf(watched))];
}

const sourceOf = (source: SourceName, system: System, subscriptions: readonly Changed[]): Manifest => ({
  apiVersion: 'sources.knative.dev/v1',
  kind: 'ApiServerSource',
  metadata: { name: `${system}-${source}`, namespace: operatorNamespace, labels: partOf },
  spec: {
    // Objects hold passwords; a Broker is no place for them.
    mode: 'Reference',
    serviceAccountName: accountName(source),
    ...(source === 'own' ? {} : { namespaceSelector: {} }),
    resources: groupsOf(subscriptions).flatMap(watchesOf),
    sink: brokerSink(system),
  },
});

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
