import { foreignSources } from '../../knative/manifests.ts';
import { usualSurroundings } from '../../knative/network-policies.ts';
import { image, knativeServices } from '../../knative/services.ts';
import { schedules } from '../../knative/timers.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { sizeOf } from './sizes.ts';
import { documentOf } from './yaml-text.ts';

/** The default numbers of instances of a function; a maxScale of 0 means no limit. */
export const scaleOf = ({ scale }: FunctionDeclaration) => ({
  minScale: scale === 'zero' ? 0 : 1,
  maxScale: 1,
});

/** The text of values.yaml. With these values the chart renders exactly knative/serving. */
export function chartValues(functions: readonly FunctionDeclaration[]): string {
  const section = (comment: string, values: object) => `\n# ${comment}\n${documentOf(values)}`;
  return [
    section('The image of all functions.', {
      image: { repository: image, tag: '', digest: '', pullPolicy: '' },
      imagePullSecrets: [],
    }),
    section('How functions run: serving (Knative Services) or deployments.', { overlay: 'serving' }),
    section(
      'The keys of ConfigMap sync-operator-policy, as deploy/production/README.md lists them. If this is\n# empty, the ConfigMap is not part of the release: apply and edit it yourself.',
      { policy: {} },
    ),
    section('MTChannelBasedBroker (in memory) or Kafka. The class of a Broker that exists cannot be changed.', {
      broker: {
        class: 'MTChannelBasedBroker',
        kafka: { bootstrapServers: '', partitions: 10, replicationFactor: 3 },
      },
    }),
    section(
      'Schedules of the timers: cron with seconds first. A change whose event was lost is found at the next tick.',
      {
        timers: schedules,
      },
    ),
    section(
      'Sources of the kinds of other operators; a source crashes if their CRDs are missing. Without kubevirt, provision-vm is left\n# out too; images do not need it.',
      { sources: Object.fromEntries(foreignSources(functions).map((name) => [valueOfSource(name), true])) },
    ),
    section('Resources of each container; `functions` below overrides them.', { resources: resourcesIn(functions) }),
    section('Settings of each function: minScale, maxScale (0: no limit), resources.', {
      functions: Object.fromEntries(functions.map((declaration) => [declaration.name, scaleOf(declaration)])),
    }),
    section('The OTLP endpoint for metrics and traces, e.g. http://collector.monitoring:4318; empty: none are sent.', {
      otlpEndpoint: '',
      extraEnv: [],
    }),
    section(
      'Knative Serving accepts them only if its ConfigMap config-features enables kubernetes.podspec-nodeselector and\n# kubernetes.podspec-tolerations.',
      { nodeSelector: {}, tolerations: [] },
    ),
    section('Additions for production; values-production.yaml enables all.', {
      roles: { enabled: false },
      podDisruptionBudgets: { enabled: false },
      eventTypes: { enabled: false },
    }),
    section(
      'Who may reach functions, and whom they may reach. closeInternalGateway concerns all Knative Services of the cluster:\n# "Network policies" in deploy/production/README.md.',
      {
        networkPolicies: {
          enabled: true,
          monitoringNamespace: usualSurroundings.monitoringNamespace,
          ingressNamespace: usualSurroundings.ingressNamespace,
          closeInternalGateway: false,
        },
      },
    ),
    section('The web console: deploy/console/README.md.', { console: { enabled: false } }),
    section(
      'PrometheusRule and PodMonitor, if the Prometheus operator is installed: deploy/monitoring/README.md.\n# Set the labels that it selects by, such as release: kube-prometheus-stack.',
      { alerts: { enabled: false, labels: {} } },
    ),
  ].join('');
}

/** The content of values-production.yaml, with which the chart renders deploy/production/serving. */
export const productionValues = (functions: readonly FunctionDeclaration[]) => ({
  image: { repository: 'registry.example/ot-functions', tag: '0.1.0' },
  roles: { enabled: true },
  podDisruptionBudgets: { enabled: true },
  eventTypes: { enabled: true },
  networkPolicies: { closeInternalGateway: true },
  functions: Object.fromEntries(functions.map((declaration) => [declaration.name, { resources: sizeOf(declaration) }])),
});

/** The resources in the manifests of knative/, which are the same for every function. */
function resourcesIn(functions: readonly FunctionDeclaration[]): unknown {
  const [first] = knativeServices(functions) as unknown as {
    spec: { template: { spec: { containers: { resources: unknown }[] } } };
  }[];
  return first?.spec.template.spec.containers[0]?.resources;
}

/** The key of a source in the chart's values: a template cannot read a key with a hyphen. */
export const valueOfSource = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
