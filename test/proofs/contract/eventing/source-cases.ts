import type { EventHeaders } from './event.ts';

/** Where the kinds that the sources watch live. */
export const group = 'eventing-contract.example.com';
const apiVersion = `${group}/v1`;

/** One change that the API server is asked for. In names, `{ns}` is the contract's namespace, `{other}` one beside it. */
export interface Step {
  verb: 'create' | 'patch' | 'delete';
  kind: 'Widget' | 'ClusterWidget';
  namespace?: '{ns}' | '{other}';
  name: string;
  /** The object beside its name, or the merge patch. */
  body?: object;
}

const demo = { metadata: { labels: { app: 'demo' } } };
const hold = [`${group}/hold`];

/** What happens while every source watches, in order. */
export const steps: readonly Step[] = [
  { verb: 'create', kind: 'Widget', namespace: '{ns}', name: 'w1', body: { ...demo, spec: { size: 1 } } },
  { verb: 'patch', kind: 'Widget', namespace: '{ns}', name: 'w1', body: { spec: { size: 2 } } },
  { verb: 'patch', kind: 'Widget', namespace: '{ns}', name: 'w1', body: { metadata: { labels: { app: 'other' } } } },
  { verb: 'delete', kind: 'Widget', namespace: '{ns}', name: 'w1' },
  { verb: 'create', kind: 'Widget', namespace: '{other}', name: 'w2', body: demo },
  { verb: 'create', kind: 'Widget', namespace: '{ns}', name: 'w3', body: { metadata: { finalizers: hold } } },
  { verb: 'patch', kind: 'Widget', namespace: '{ns}', name: 'w3', body: demo },
  { verb: 'delete', kind: 'Widget', namespace: '{ns}', name: 'w3' },
  { verb: 'patch', kind: 'Widget', namespace: '{ns}', name: 'w3', body: { metadata: { finalizers: null } } },
  { verb: 'create', kind: 'ClusterWidget', name: '{ns}-c1' },
  { verb: 'patch', kind: 'ClusterWidget', name: '{ns}-c1', body: { spec: { size: 2 } } },
  { verb: 'delete', kind: 'ClusterWidget', name: '{ns}-c1' },
];

/** An event as a function sees it, its headers made comparable. */
export interface Told {
  headers: EventHeaders;
  body: unknown;
}

/** An ApiServerSource and the events it sends for the steps, by kind. */
export interface SourceCase {
  name: string;
  what: string;
  /** Its spec beside sink and ServiceAccount. */
  spec: { resources: object[] } & Record<string, unknown>;
  /** Whether a Broker stands between it and the function. */
  isBrokered?: boolean;
  tells: Partial<Record<Step['kind'], readonly Told[]>>;
}

const both = [
  { apiVersion, kind: 'Widget' },
  { apiVersion, kind: 'ClusterWidget' },
];

/** The headers of every event that an ApiServerSource sends. */
const headersOf = (kind: Step['kind'], name: string, namespace: string, type: string): EventHeaders => ({
  'ce-specversion': '1.0',
  'ce-type': `dev.knative.apiserver.${type}`,
  'ce-source': 'a host',
  'ce-subject': `/apis/${apiVersion}/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`,
  'ce-id': 'a UUID',
  'ce-time': 'a time',
  'ce-apiversion': apiVersion,
  'ce-kind': kind,
  'ce-name': name,
  'ce-namespace': namespace,
  'content-type': 'application/json',
  'kn-namespace': '{ns}',
});

/** What a Broker adds. */
const brokered = { 'ce-knativearrivaltime': 'a time', prefer: 'reply' };

const widget = (verb: string, name: string, namespace = '{ns}', more: EventHeaders = {}): Told => ({
  headers: { ...headersOf('Widget', name, namespace, `ref.${verb}`), ...more },
  body: { kind: 'Widget', namespace, name, apiVersion },
});
const clusterWidget = (verb: string, more: EventHeaders = {}): Told => ({
  headers: { ...headersOf('ClusterWidget', '{ns}-c1', '', `ref.${verb}`), ...more },
  body: { kind: 'ClusterWidget', name: '{ns}-c1', apiVersion },
});
const whole = (verb: string, name: string, body: object): Told => ({
  headers: { ...headersOf('Widget', name, '{ns}', `resource.${verb}`), 'ce-team': 'lab' },
  body: { apiVersion, kind: 'Widget', ...body },
});

const everything = (more: EventHeaders): SourceCase['tells'] => ({
  Widget: [
    widget('add', 'w1', '{ns}', more),
    widget('update', 'w1', '{ns}', more),
    widget('update', 'w1', '{ns}', more),
    widget('delete', 'w1', '{ns}', more),
    widget('add', 'w2', '{other}', more),
    widget('add', 'w3', '{ns}', more),
    widget('update', 'w3', '{ns}', more),
    widget('update', 'w3', '{ns}', more),
    widget('delete', 'w3', '{ns}', more),
  ],
  ClusterWidget: [clusterWidget('add', more), clusterWidget('update', more), clusterWidget('delete', more)],
});

export const sourceCases: readonly SourceCase[] = [
  {
    name: 'everywhere',
    what: 'in Reference mode tells what object to look at, in all namespaces, cluster-scoped kinds with an empty one',
    spec: { resources: both, namespaceSelector: {} },
    tells: everything({}),
  },
  {
    name: 'brokered',
    what: 'comes through a Broker with an arrival time, Prefer: reply and no time to live',
    spec: { resources: both, namespaceSelector: {}, mode: 'Reference' },
    isBrokered: true,
    tells: everything(brokered),
  },
  {
    name: 'labelled',
    what: 'with a selector tells of what begins to match as added and of what ceases to as deleted, in its own namespace',
    spec: { resources: [{ apiVersion, kind: 'Widget', selector: { matchLabels: { app: 'demo' } } }] },
    tells: {
      Widget: [
        widget('add', 'w1'),
        widget('update', 'w1'),
        widget('delete', 'w1'),
        widget('add', 'w3'),
        widget('update', 'w3'),
        widget('delete', 'w3'),
      ],
    },
  },
  {
    name: 'whole',
    what: 'in Resource mode carries the whole object and its own extensions',
    spec: {
      resources: [{ apiVersion, kind: 'Widget' }],
      mode: 'Resource',
      ceOverrides: { extensions: { team: 'lab' } },
    },
    tells: {
      Widget: [
        whole('add', 'w1', { metadata: { name: 'w1', generation: 1, labels: { app: 'demo' } }, spec: { size: 1 } }),
        whole('update', 'w1', { metadata: { name: 'w1', generation: 2 }, spec: { size: 2 } }),
        whole('update', 'w1', { metadata: { name: 'w1', labels: { app: 'other' } } }),
        whole('delete', 'w1', { metadata: { name: 'w1' }, spec: { size: 2 } }),
        whole('add', 'w3', { metadata: { name: 'w3', finalizers: hold } }),
        whole('update', 'w3', { metadata: { name: 'w3', labels: { app: 'demo' } } }),
        whole('update', 'w3', { metadata: { name: 'w3', deletionGracePeriodSeconds: 0 } }),
        whole('delete', 'w3', { metadata: { name: 'w3', finalizers: hold } }),
      ],
    },
  },
];

/** A PingSource that ticks each second, and its event. */
export interface PingCase {
  name: string;
  what: string;
  spec: object;
  tells: { headers: EventHeaders; body: string };
}

const pinged = (name: string): EventHeaders => ({
  'ce-specversion': '1.0',
  'ce-type': 'dev.knative.sources.ping',
  'ce-source': `/apis/v1/namespaces/{ns}/pingsources/${name}`,
  'ce-id': 'a UUID',
  'ce-time': 'a time',
  'kn-namespace': '{ns}',
});

export const pingCases: readonly PingCase[] = [
  {
    name: 'sweep',
    what: 'with data sends that',
    spec: { contentType: 'application/json', data: '{"a":1}' },
    tells: { headers: { ...pinged('sweep'), 'content-type': 'application/json' }, body: '{"a":1}' },
  },
  {
    name: 'encoded',
    what: 'with dataBase64 sends what that says, and its own extensions',
    spec: { contentType: 'text/plain', dataBase64: 'aGVsbG8=', ceOverrides: { extensions: { team: 'lab' } } },
    tells: { headers: { ...pinged('encoded'), 'content-type': 'text/plain', 'ce-team': 'lab' }, body: 'hello' },
  },
  { name: 'empty', what: 'without data sends none', spec: {}, tells: { headers: pinged('empty'), body: '' } },
];
