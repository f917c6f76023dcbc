import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readEvent } from '../deploy/local/eventing/event.ts';
import { matches } from '../deploy/local/eventing/filters.ts';
import { ApiServerSource, type LabelSelector, Trigger } from '../deploy/local/eventing/resources.ts';
import type { Batch, FunctionDeclaration, Subscription } from '../shared/function.ts';
import { serve } from '../shared/runtime/http.ts';
import type { Kube } from '../shared/runtime/kube.ts';
import { telemetryOf } from '../shared/runtime/telemetry/telemetry.ts';
import { recorded } from '../test/support/tools/recorded-knative-events.ts';
import { loadAllFunctions } from './functions.ts';

const objectsIn = async (file: string) =>
  parseAllDocuments(await readFile(new URL(file, import.meta.url), 'utf8')).map(
    (document) => document.toJS() as object,
  );

const folders = ['base/triggers.yaml', 'openstack/base/triggers.yaml'];
const triggers = (await Promise.all(folders.map(objectsIn))).flat().map((trigger) => Trigger.parse(trigger).spec);
const triggersOf = ({ name }: FunctionDeclaration) =>
  triggers.filter(({ subscriber }) => subscriber.ref?.name === name);

/** Any request fails the test. */
const noKube = new Proxy({} as Kube, {
  get: (_, verb) => {
    throw new Error(`expected no request, found ${String(verb)}`);
  },
});

/** The path of one event: the Brokers whose Trigger delivers it, the answer of the function, and what the function observes. */
async function fate(declaration: FunctionDeclaration, request: Posted) {
  const batches: Batch[] = [];
  const observe = async (_: unknown, batch: Batch) => {
    batches.push(batch);
    return [];
  };
  // Without an audit of its own, so that every event is observed here.
  const { audit: _, ...plain } = declaration;
  const { app } = serve(
    { ...plain, observe },
    {
      kube: noKube,
      telemetry: telemetryOf(declaration.name),
      now: () => 0,
      pause: async () => undefined,
      random: () => 0,
      publisher: { publish: () => undefined, republish: () => undefined },
    },
  );
  const posted = () => new Request('http://function/', { method: 'POST', ...request });
  const event = await readEvent(posted());
  return {
    by: triggersOf(declaration)
      .filter((spec) => matches(spec, event))
      .map(({ broker }) => broker),
    status: (await app.fetch(posted())).status,
    batches,
  };
}

interface Posted {
  headers: Record<string, string>;
  body: string;
}

type Changed = Extract<Subscription, { on: 'changed' }>;
type Posts = Extract<Subscription, { on: 'event' }>;
type Verb = 'add' | 'update' | 'delete';

const change = await Promise.all(
  (['add', 'update', 'delete'] as const).map(async (verb) => {
    return [verb, await recorded(`reference-${verb}-namespaced-via-broker`)] as const;
  }),
);
const ofChange = new Map<Verb, { headers: Record<string, string> }>(change);
const ofTimer = await recorded('pingsource-source-to-sink');

/** The recorded event of a change, with another object in it. */
function changeOf(verb: Verb, object: { apiVersion: string; kind: string; namespace?: string; name: string }): Posted {
  const { apiVersion, kind, namespace = '', name } = object;
  const headers = {
    ...ofChange.get(verb)?.headers,
    'ce-apiversion': apiVersion,
    'ce-kind': kind,
    'ce-namespace': namespace,
    'ce-name': name,
  };
  return { headers, body: JSON.stringify({ kind, namespace, name, apiVersion }) };
}

const tickOf = (timer: string, namespace = 'sync-operator'): Posted => ({
  headers: { ...ofTimer.headers, 'ce-source': `/apis/v1/namespaces/${namespace}/pingsources/images-${timer}` },
  body: '{}',
});

const messageOf = ({ type, attributes = {} }: Pick<Posts, 'type' | 'attributes'>): Posted => ({
  headers: {
    ...ofTimer.headers,
    'ce-type': type,
    'ce-source': '/publisher',
    'content-type': 'application/json',
    ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
  },
  body: JSON.stringify({ namespace: 'vmdi-farm', name: 'ubuntu' }),
});

/** A place that the subscription selects, or one outside it. */
const placeOf = ({ resource, namespace, name = 'one' }: Changed, isInside = namespace === 'workspace') => {
  const { apiVersion, kind, namespaced } = resource;
  if (namespaced) return { apiVersion, kind, name, namespace: isInside ? 'ws-lab' : 'vmdi-farm' };
  return { apiVersion, kind, name: isInside ? 'ws-lab' : name };
};

const allVerbs = ['add', 'update', 'delete'] as const;

function wantedBy(subscription: Subscription): Posted[] {
  if (subscription.on === 'sweep' || subscription.on === 'audit') return [tickOf(subscription.on)];
  if (subscription.on === 'event') return [messageOf(subscription)];
  if (subscription.on !== 'changed') return [];
  return (subscription.verbs ?? allVerbs).map((verb) => changeOf(verb, placeOf(subscription)));
}

/** Events that differ from an accepted one in one attribute. */
function filteredOutBy(subscription: Subscription): Posted[] {
  if (subscription.on === 'sweep' || subscription.on === 'audit')
    return [tickOf(subscription.on, 'elsewhere'), tickOf('lunch')];
  if (subscription.on === 'event') {
    const { type, attributes = {} } = subscription;
    const others = Object.keys(attributes).map((name) => ({ type, attributes: { ...attributes, [name]: 'other' } }));
    return [{ type: type.replace(/v1$/, 'v2'), attributes }, ...others].map(messageOf);
  }
  if (subscription.on !== 'changed') return [];
  const { verbs, namespace, name } = subscription;
  const verb = verbs?.[0] ?? 'update';
  const wanted = placeOf(subscription);
  return [
    changeOf(verb, { ...wanted, kind: 'Gadget' }),
    changeOf(verb, { ...wanted, apiVersion: 'other.example.com/v1' }),
    ...(name === undefined ? [] : [changeOf(verb, { ...wanted, name: 'another' })]),
    ...(namespace === undefined ? [] : [changeOf(verb, placeOf(subscription, namespace !== 'workspace'))]),
    ...(verbs === undefined ? [] : allVerbs.filter((one) => !verbs.includes(one)).map((one) => changeOf(one, wanted))),
  ];
}

const nameOf = (subscription: Subscription) =>
  [
    subscription.on,
    subscription.on === 'changed' ? subscription.resource.kind : '',
    ...(subscription.on === 'event' ? [subscription.type, ...Object.values(subscription.attributes ?? {})] : []),
  ]
    .filter(Boolean)
    .join(' ');

const functions = await loadAllFunctions();
const subscriptions = functions.flatMap((declaration) =>
  declaration.on
    .filter((subscription) => subscription.on !== 'deadLetter')
    .map((subscription) => ({ name: declaration.name, what: nameOf(subscription), declaration, subscription })),
);

describe.each(subscriptions)('$name subscribes to $what', ({ declaration, subscription }) => {
  test.each(wantedBy(subscription))('and its Trigger delivers event %#, which it accepts', async (event) => {
    const { by, status, batches } = await fate(declaration, event);
    const broker = subscription.on === 'event' ? 'default' : declaration.system;
    expect({ by, status, batches: batches.length }).toEqual({ by: [broker], status: 202, batches: 1 });
    const { 'ce-name': name = '' } = event.headers;
    if (subscription.on === 'changed')
      expect(batches[0]?.subjects).toMatchObject([{ kind: subscription.resource.kind, name }]);
    else
      expect(
        subscription.on === 'event' ? batches[0]?.messages.length : batches[0]?.[subscription.on as 'sweep'],
      ).toBeTruthy();
  });

  test.each(filteredOutBy(subscription))(
    'and it ignores event %#, which its Trigger does not deliver',
    async (event) => {
      const { by, status, batches } = await fate(declaration, event);
      expect({ by, status, batches: batches.length }).toEqual({ by: [], status: 204, batches: 0 });
    },
  );
});

test('a function has one Trigger at each Broker that brings it something', () => {
  for (const declaration of functions) {
    const brokers = triggersOf(declaration).map(({ broker }) => broker);
    const wanted = declaration.on
      .filter((subscription) => subscription.on !== 'deadLetter')
      .map((subscription) => (subscription.on === 'event' ? 'default' : declaration.system));
    expect(brokers.sort()).toEqual([...new Set(wanted)].sort());
  }
});

const sourceFiles = [
  'base/source-own.yaml',
  'base/source-pelotech.yaml',
  ...['cdi', 'snapshotter', 'kubevirt', 'kube-ovn'].map((name) => `components/${name}/source-${name}.yaml`),
  'openstack/base/source-kupenstack.yaml',
];
const sourceObjects = (await Promise.all(sourceFiles.map(objectsIn)))
  .flat()
  .filter((object) => (object as { kind: string }).kind === ApiServerSource.kind)
  .map((object) => ApiServerSource.parse(object));
const watchedFor = (broker: string) =>
  sourceObjects.filter(({ spec }) => spec.sink.ref?.name === broker).flatMap(({ spec }) => spec.resources);
const kindsAmong = (kinds: readonly { apiVersion: string; kind: string }[]) =>
  [...new Set(kinds.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`))].sort();

test.each(['images', 'machines', 'workspaces', 'openstack'])(
  'the sources of Broker %s bring every kind that a function of its system wants, and no other',
  (system) => {
    const wanted = functions
      .filter((declaration) => declaration.system === system)
      .flatMap(({ on }) => on.flatMap((one) => (one.on === 'changed' ? [one.resource] : [])));
    expect(kindsAmong(watchedFor(system))).toEqual(kindsAmong(wanted));
  },
);

test('no source feeds the public Broker', () => {
  expect(watchedFor('default')).toEqual([]);
});

test('no function hears of the images of another system but by facts', () => {
  const others = functions.filter(({ system }) => system !== 'images');
  const watching = others.filter(({ on }) =>
    on.some((one) => one.on === 'changed' && one.resource.kind === 'VMDiskImage'),
  );
  expect(watching.map(({ name }) => name)).toEqual([]);
});

/** Evaluates the selector of a Knative source as the API server does. */
const selects = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Record<string, string>) =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator }) => operator === 'Exists' && Object.hasOwn(labels, key));

const ofOurs = { 'app.kubernetes.io/managed-by': 'ot-functions' };
const ofCdi = { 'app.kubernetes.io/component': 'storage', 'app.kubernetes.io/managed-by': 'cdi-controller' };
const ofImage = { 'pelotech.ot/disk-image-uid': '44169f83-4108-4c64-866d-68833ff5db8f', 'pelotech.ot/revision': '1' };
const ofImporter = {
  app: 'containerized-data-importer',
  ...ofCdi,
  'cdi.kubevirt.io': 'importer',
  'pelotech.ot/attempt': '1',
  ...ofImage,
  'prometheus.cdi.kubevirt.io': 'true',
};
const ofClone = { 'pelotech.ot/virtual-machine-uid': 'e51a2e8c-8f2e-4b8e-a6bb-6f4ac2d0d1f2' };

/** Labels as CDI 1.66 and the external-snapshotter set them. */
test.each([
  ['DataVolume', 'of an attempt', { ...ofOurs, ...ofImage, 'pelotech.ot/attempt': '1' }, ['images']],
  ['DataVolume', 'of a machine', { ...ofOurs, ...ofClone }, ['machines']],
  ['DataVolume', 'of another controller', {}, []],
  ['Pod', 'that imports an image', ofImporter, ['images']],
  ['Pod', 'that copies a disk', { app: 'containerized-data-importer', ...ofCdi }, []],
  ['Pod', 'of a container cluster', { ...ofOurs, app: 'web' }, ['workspaces']],
  ['PersistentVolumeClaim', 'of an image', { app: 'containerized-data-importer', ...ofCdi, ...ofImage }, []],
  ['PersistentVolumeClaim', 'that CDI works in', { app: 'containerized-data-importer', ...ofCdi }, []],
  ['PersistentVolumeClaim', "of a workspace's volume", { ...ofOurs, 'pelotech.ot/workspace': 'lab' }, ['workspaces']],
  ['VolumeSnapshot', 'of an image', { ...ofOurs, ...ofImage }, ['images']],
  ['VolumeSnapshot', 'that an administrator labelled for an image', ofImage, ['images']],
  ['VolumeSnapshot', 'of another controller', { app: 'backup' }, []],
] as const)('each event of a %s %s is sent once, to the Broker of its system', (kind, _, labels, brokers) => {
  const watching = ['images', 'machines', 'workspaces'].flatMap((broker) =>
    watchedFor(broker)
      .filter((source) => source.kind === kind && selects(source.selector ?? {}, labels))
      .map(() => broker),
  );
  expect(watching).toEqual(brokers);
});
