import { setTimeout as sleep } from 'node:timers/promises';
import { applyManifests } from '../../../../deploy/manifests.ts';
import type { KubernetesObject } from '../../../../shared/kinds/resource.ts';
import { defineResource } from '../../../../shared/kinds/resource.ts';
import { comparable } from './event.ts';
import type { Call } from './functions-under-test.ts';
import { ApiServerSource, PingSource } from './objects.ts';
import { group, pingCases, type SourceCase, type Step, sourceCases, steps, type Told } from './source-cases.ts';
import { filled, type World } from './world.ts';

const kinds = ['Widget', 'ClusterWidget'] as const;
type Kind = (typeof kinds)[number];

const resourceOf = (kind: Kind) =>
  defineResource(
    { apiVersion: `${group}/v1`, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind === 'Widget' },
    {},
  );

const account = 'watcher';
export const functionOf = (source: string) => `source-${source}`;
const broker = 'sources';

/** Applies the kinds that are watched, and the account that may watch them. */
export async function makeKinds({ kube, namespace }: World): Promise<void> {
  await applyManifests(kube, [...kinds.map(definitionOf), ...permissionsIn(namespace)] as KubernetesObject[]);
  for (const kind of kinds) await untilServed(() => kube.list(resourceOf(kind)));
}

/** A definition is served a moment after it was taken; nothing tells when. */
async function untilServed(list: () => Promise<unknown>) {
  for (let tries = 100; tries > 0; tries--) {
    const isServed = await list().then(
      () => true,
      () => false,
    );
    if (isServed) return;
    await sleep(100);
  }
  throw new Error(`expected ${group} to be served within ten seconds, it is not`);
}

const definitionOf = (kind: Kind) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope: kind === 'Widget' ? 'Namespaced' : 'Cluster',
    names: { kind, plural: `${kind.toLowerCase()}s` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});
const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } };

const permissionsIn = (namespace: string) => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: group },
    rules: [{ apiGroups: [group], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${group}-${namespace}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: group },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  },
];

/** The Broker between a source and its function, and its Trigger. */
export const brokeredParts = ({ functions }: World) => ({
  broker: { metadata: { name: broker }, spec: {} },
  triggers: sourceCases
    .filter(({ isBrokered }) => isBrokered)
    .map(({ name }) => ({
      metadata: { name: functionOf(name) },
      spec: { broker, subscriber: { uri: functions.urlOf(functionOf(name)) } },
    })),
});

/** Makes all sources; the Broker has to exist. */
export async function makeSources({ kube, namespace, functions }: World): Promise<void> {
  const brokerSink = { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: broker } };
  for (const { name, spec, isBrokered } of sourceCases) {
    const sink = isBrokered ? brokerSink : { uri: functions.urlOf(functionOf(name)) };
    const metadata = { name, namespace };
    await kube.create(ApiServerSource, { metadata, spec: { serviceAccountName: account, ...spec, sink } });
  }
  for (const { name, spec } of pingCases) {
    const sink = { uri: functions.urlOf(functionOf(name)) };
    await kube.create(PingSource, { metadata: { name, namespace }, spec: { schedule: '* * * * * *', ...spec, sink } });
  }
}

/** Takes the steps once every source watches; what each has sent by then, by source and kind. */
export async function takeSteps(world: World): Promise<(source: SourceCase, kind: Kind) => Told[]> {
  const names = { ns: world.namespace, other: world.otherNamespace };
  await untilAllWatch(world);
  for (const step of filled(steps, names)) await take(world, step);
  // A source sends one event of a kind after the other: with this one all before have arrived.
  await Promise.all(kinds.map((kind) => create(world, kind, `${world.namespace}-end`)));
  await eachHas(world, (call) => call.headers['ce-name'] === `${world.namespace}-end`);
  const ofSteps = new Set(filled(steps, names).map(({ name }) => name));
  return ({ name }, kind) =>
    callsOf(world, name, kind)
      .filter(({ headers }) => ofSteps.has(headers['ce-name'] ?? ''))
      .map(({ headers, body }) => ({ headers: comparable(headers), body: JSON.parse(body) as unknown }));
}

const callsOf = ({ functions }: World, source: string, kind: Kind) =>
  functions.callsOf(functionOf(source)).filter(({ headers }) => headers['ce-kind'] === kind);

const eachHas = ({ functions }: World, is: (call: Call) => boolean) =>
  Promise.all(
    sourceCases.flatMap(({ name, tells }) =>
      Object.keys(tells).map((kind) =>
        functions.until(functionOf(name), (calls) =>
          calls.some((call) => call.headers['ce-kind'] === kind && is(call)),
        ),
      ),
    ),
  );

/** A source does not report that it watches; an event about an object created meanwhile shows it. */
async function untilAllWatch(world: World) {
  const all = { watch: false };
  const seen = eachHas(world, () => true).then(() => {
    all.watch = true;
  });
  for (let tries = 1; !all.watch; tries++) {
    for (const kind of kinds) await create(world, kind, `${world.namespace}-canary-${tries}`);
    await Promise.race([seen, sleep(500)]);
  }
}

const create = ({ kube, namespace }: World, kind: Kind, name: string) =>
  kube.create(resourceOf(kind), {
    metadata: { name, labels: { app: 'demo' }, ...(kind === 'Widget' ? { namespace } : {}) },
  });

async function take({ kube }: World, { verb, kind, namespace, name, body = {} }: Step) {
  const resource = resourceOf(kind);
  const ref = { name, ...(namespace ? { namespace } : {}) };
  if (verb === 'patch') return kube.patch(resource, ref, body);
  if (verb === 'delete') return kube.delete(resource, ref);
  const { metadata = {}, ...rest } = body as { metadata?: object };
  return kube.create(resource, { metadata: { ...ref, ...metadata }, ...rest });
}

/** Deletes what is not in the contract's namespaces. */
export async function removeKinds({ kube, namespace }: World): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io/v1';
  for (const [apiVersion, kind, name] of [
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', `widgets.${group}`],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', `clusterwidgets.${group}`],
    [rbac, 'ClusterRoleBinding', `${group}-${namespace}`],
    [rbac, 'ClusterRole', group],
  ] as const) {
    const plural = `${kind.toLowerCase()}s`;
    await kube.delete(defineResource({ apiVersion, kind, plural, namespaced: false }, {}), { name });
  }
}
