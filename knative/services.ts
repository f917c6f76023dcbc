import type { FunctionDeclaration } from '../shared/function.ts';
import { operatorNamespace, partOf, publicBroker } from '../shared/operator.ts';
import type { Manifest } from './manifest.ts';

/** The image of all functions; an overlay says where it is and which version (`images:` of kustomize). */
export const image = 'ot-functions';

/** Where a pod listens for events, and where Prometheus scrapes it: the exporter's own port, for queue-proxy has 9090. */
export const ports = { events: 8080, metrics: 9464 } as const;

/** Where every Broker of a cluster takes events. */
const brokerIngress = 'http://broker-ingress.knative-eventing.svc.cluster.local';

/** Each function as a Knative Service, which sleeps while nothing happens unless the function says otherwise. */
export const knativeServices = (functions: readonly FunctionDeclaration[]): Manifest[] =>
  functions.map((declaration) => {
    const { name } = declaration;
    return {
      apiVersion: 'serving.knative.dev/v1',
      kind: 'Service',
      metadata: {
        ...metadataOf(name),
        // Events come from inside the cluster only.
        labels: { ...labelsOf(name), 'networking.knative.dev/visibility': 'cluster-local' },
      },
      spec: {
        template: {
          metadata: { labels: labelsOf(name), annotations: { ...scrape, ...scaleOf(declaration) } },
          spec: {
            ...podOf(name),
            // Unlimited: events that come at once share a reconcile, which is cheaper than a second instance.
            containerConcurrency: 0,
            timeoutSeconds: 60,
            containers: [
              {
                ...containerOf(name),
                ports: [{ containerPort: ports.events }],
                readinessProbe: { httpGet: { path: '/health/ready' } },
              },
            ],
          },
        },
      },
    };
  });

/** Each function as a Deployment and a Service of its name, for clusters without Knative Serving. */
export const deployments = (functions: readonly FunctionDeclaration[]): Manifest[] =>
  functions.flatMap((declaration) => {
    const { name } = declaration;
    const selector = { 'app.kubernetes.io/name': name };
    return [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: metadataOf(name),
        spec: {
          replicas: 1,
          selector: { matchLabels: selector },
          // Rivals make the Lease slower: of a function that runs once the old instance goes first.
          ...(declaration.scale === 'single' ? { strategy: { type: 'Recreate' } } : {}),
          template: {
            metadata: { labels: labelsOf(name), annotations: scrape },
            spec: {
              ...podOf(name),
              terminationGracePeriodSeconds: 60,
              containers: [
                {
                  ...containerOf(name),
                  ports: [
                    { name: 'http', containerPort: ports.events },
                    { name: 'metrics', containerPort: ports.metrics },
                  ],
                  readinessProbe: { httpGet: { path: '/health/ready', port: 'http' }, periodSeconds: 2 },
                  livenessProbe: { httpGet: { path: '/health/live', port: 'http' }, periodSeconds: 20 },
                  // Requests still come for a moment after the end began: until all nodes know that the pod is leaving.
                  lifecycle: { preStop: { sleep: { seconds: 3 } } },
                },
              ],
            },
          },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: metadataOf(name),
        spec: { selector, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
      },
    ];
  });

const labelsOf = (name: string) => ({ ...partOf, 'app.kubernetes.io/name': name });

const metadataOf = (name: string) => ({ name, namespace: operatorNamespace, labels: labelsOf(name) });

const scrape = {
  'prometheus.io/scrape': 'true',
  'prometheus.io/port': String(ports.metrics),
  'prometheus.io/path': '/metrics',
};

/**
 * One instance at most: events that wait share its next reconcile, while a second one reads and writes the same objects.
 * Measured with 200 machines made at once: five instances had two of three status writes refused as conflicts.
 */
const scaleOf = ({ scale }: FunctionDeclaration): Record<string, string> => ({
  ...(scale === 'zero' ? {} : { 'autoscaling.knative.dev/min-scale': '1', ...withoutActivator }),
  'autoscaling.knative.dev/max-scale': '1',
});

/**
 * The activator holds requests for a function without a pod, and takes part in every request to a running function until it has this
 * many free places (211 by default). Of a function that always runs that is a hop for each event, which cost 23 ms of CPU an image.
 */
const withoutActivator = { 'autoscaling.knative.dev/target-burst-capacity': '0' };

/** The user `nonroot` of distroless images; a number, or the kubelet could not tell that it is not root. */
const nonroot = 65532;

const podOf = (name: string) => ({
  serviceAccountName: name,
  // Variables for every Service of the namespace are of no use to a function and cost time at its start.
  enableServiceLinks: false,
});

const containerOf = (name: string) => ({
  name: 'function',
  image,
  args: [name],
  env: [{ name: 'K_SINK', value: `${brokerIngress}/${operatorNamespace}/${publicBroker}` }],
  ...confined(),
});

/** What a container of our image gets, and what it may do. */
export const confined = () => ({
  // Measured by "npm run bench"; a list of thousands of images needs more than rest does.
  resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
  // Here and not at the pod, where Serving's webhook refuses it.
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    runAsUser: nonroot,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
});
