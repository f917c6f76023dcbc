import type { FunctionDeclaration } from '../shared/function.ts';
import { operatorNamespace, partOf } from '../shared/operator.ts';
import { ports } from './services.ts';

/** The settings that differ from cluster to cluster. */
interface Surroundings {
  /** The namespace that Prometheus and the collector run in. */
  monitoringNamespace: string;
  /** The namespace of Serving's ingress layer. */
  ingressNamespace: string;
}

/** The defaults: Kourier, and a namespace `monitoring`. */
export const usualSurroundings: Surroundings = {
  monitoringNamespace: 'monitoring',
  ingressNamespace: 'kourier-system',
};

/** Allow what functions and the adapters of sources need, and deny all other traffic of the operator's namespace. */
export const networkPolicies = (functions: readonly FunctionDeclaration[], around = usualSurroundings) => [
  policyOfFunctions('functions', functions, around, [...outward, toCollector(around)]),
  networkPolicy('sources', {
    // Knative's label of the adapters of all ApiServerSources. Those of PingSources run in knative-eventing.
    podSelector: { matchLabels: { 'eventing.knative.dev/source': 'apiserver-source-controller' } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [fromMonitoring(around, 9090)],
    egress: outward,
  }),
  networkPolicy('default-deny', { podSelector: {}, policyTypes: ['Ingress', 'Egress'] }),
  ...policyOfReaders(
    functions.filter(({ readsSources }) => readsSources),
    around,
  ),
];

/** Policies add up: this allows what the first does not. */
const policyOfReaders = (readers: readonly FunctionDeclaration[], around: Surroundings) =>
  readers.length > 0 ? [policyOfFunctions('source-readers', readers, around, [toSources])] : [];

/** Lets the functions for OpenStack reach it; only its own catalogue knows the addresses of its services. */
export const openStackNetworkPolicies = (functions: readonly FunctionDeclaration[], around = usualSurroundings) => [
  policyOfFunctions('openstack-functions', functions, around, [{}]),
];

/** An admin's label of the namespaces whose Pods may call Knative Services by their names inside the cluster. */
const mayCallServices = { 'pelotech.ot/internal-gateway': 'allowed' };

/**
 * With Knative Serving, Kourier's internal gateway and the activator forward to a function for every Pod, past the policies above.
 * These admit only who delivers events, Serving itself and namespaces with the label; what Kourier serves to the outside, and metrics, stay
 * open to everyone. All Knative Services of the cluster share the two.
 */
export const servingPolicies = ({ ingressNamespace }: Surroundings) => [
  networkPolicy(
    'ot-functions-internal-gateway',
    {
      podSelector: { matchLabels: { app: '3scale-kourier-gateway' } },
      policyTypes: ['Ingress'],
      ingress: [
        { ports: on(8080, 8443, 9000) },
        fromAll('knative-eventing'),
        // Its controller asks whether a new route works.
        fromAll('knative-serving'),
        // A DomainMapping leads from the gateway to itself.
        fromAll(ingressNamespace),
        { from: [{ namespaceSelector: { matchLabels: mayCallServices } }] },
      ],
    },
    ingressNamespace,
  ),
  networkPolicy(
    'ot-functions-activator',
    {
      podSelector: { matchLabels: { app: 'activator' } },
      policyTypes: ['Ingress'],
      ingress: [
        { ports: on(8008, 9090) },
        fromAll(ingressNamespace),
        // Before it takes the last instance away the autoscaler asks whether the activator is in its place.
        fromAll('knative-serving'),
      ],
    },
    'knative-serving',
  ),
];

const policyOfFunctions = (
  name: string,
  functions: readonly FunctionDeclaration[],
  around: Surroundings,
  egress: readonly object[],
) =>
  networkPolicy(name, {
    podSelector: {
      matchLabels: partOf,
      matchExpressions: [
        { key: 'app.kubernetes.io/name', operator: 'In', values: functions.map((one) => one.name).sort() },
      ],
    },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [fromEventing, fromServing(around), fromMonitoring(around, ports.metrics)],
    egress,
  });

/** A policy of ours, in the operator's namespace if no other is named. */
export const networkPolicy = (name: string, spec: object, namespace = operatorNamespace) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name, namespace, labels: partOf },
  spec,
});

const inNamespace = (name: string) => ({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } });

const fromAll = (namespace: string) => ({ from: [inNamespace(namespace)] });

const components = (...names: string[]) => ({
  podSelector: { matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values: names }] },
});

const on = (...numbers: number[]) => numbers.map((port) => ({ port }));

/** Deployments are called by the Broker's own pods; dead letters come from the channel's dispatcher. */
const fromEventing = {
  from: [
    { ...inNamespace('knative-eventing'), ...components('broker-filter', 'imc-dispatcher', 'kafka-broker-dispatcher') },
  ],
  ports: on(ports.events),
};

/** Knative Services are called through the ingress layer and the activator, at queue-proxy, which the autoscaler asks too. */
const fromServing = ({ ingressNamespace }: Surroundings) => ({
  from: [
    { ...inNamespace('knative-serving'), ...components('activator', 'autoscaler') },
    inNamespace(ingressNamespace),
  ],
  ports: on(8012, 8013, 8112, 9090),
});

const fromMonitoring = ({ monitoringNamespace }: Surroundings, port: number) => ({
  from: [inNamespace(monitoringNamespace)],
  ports: on(port),
});

const toCollector = ({ monitoringNamespace }: Surroundings) => ({
  to: [inNamespace(monitoringNamespace)],
  ports: on(4317, 4318),
});

/** Where importers may ask (deploy/production/importers.yaml): everywhere but at addresses that only a node should ask. */
const toSources = {
  to: [
    { ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', '127.0.0.0/8'] } },
    { ipBlock: { cidr: '::/0', except: ['fd00:ec2::254/128', 'fe80::/10'] } },
  ],
};

/** Egress to DNS, the API server and the Broker. */
export const outward = [
  {
    // The address of NodeLocal DNSCache, which is not a pod.
    to: [inNamespace('kube-system'), { ipBlock: { cidr: '169.254.20.10/32' } }],
    ports: [
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
    ],
  },
  // No label selects the API server. Metadata services of clouds listen at port 80.
  { ports: on(443, 6443) },
  {
    to: [{ ...inNamespace('knative-eventing'), ...components('broker-ingress', 'kafka-broker-receiver') }],
    ports: on(8080, 8443),
  },
];
