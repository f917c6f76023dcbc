import { foreignSources } from '../../knative/manifests.ts';
import { image, knativeServices } from '../../knative/services.ts';
import { timerManifests } from '../../knative/timers.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { usualSurroundings } from './network-policies.ts';
import { sizeOf } from './sizes.ts';
import { documentOf } from './yaml-text.ts';

/** How many instances of a function there are where nobody says otherwise; 0 at most is "as many as it takes". */
export const scaleOf = ({ scale }: FunctionDeclaration) => ({
  minScale: scale === 'zero' ? 0 : 1,
  maxScale: 1,
});

/** The text of values.yaml. With these values the chart makes what knative/serving holds, and no more. */
export function chartValues(functions: readonly FunctionDeclaration[]): string {
  const section = (comment: string, values: object) => `\n# ${comment}\n${documentOf(values)}`;
  return [
    section('Where the image of all functions is.', {
      image: { repository: image, tag: '', digest: '', pullPolicy: '' },
      imagePullSecrets: [],
    }),
    section('How functions run: serving (Knative Services) or deployments.', { overlay: 'serving' }),
    section(
      'The keys of ConfigMap sync-operator-policy, as deploy/base/policy.yaml explains them. While there is none here, that\n# ConfigMap is not part of the release, and is yours to apply and edit.',
      { policy: {} },
    ),
    section('MTChannelBasedBroker (in memory) or Kafka. The class of a Broker that exists cannot be changed.', {
      broker: {
        class: 'MTChannelBasedBroker',
        kafka: { bootstrapServers: '', partitions: 10, replicationFactor: 3 },
      },
    }),
    section('When the timers strike: cron with seconds first. What they find late is what an event was lost for.', {
      timers: timers(),
    }),
    section(
      'Sources whose kinds belong to another operator; one whose CRDs are missing would only crash. Without kubevirt the\n# function that makes machines is left out, too: images do without.',
      { sources: Object.fromEntries(foreignSources(functions).map((name) => [valueOfSource(name), true])) },
    ),
    section('Of each container; a function may have its own, below.', { resources: resourcesIn(functions) }),
    section('Of each function: minScale, maxScale (0: as many as it takes), resources.', {
      functions: Object.fromEntries(functions.map((declaration) => [declaration.name, scaleOf(declaration)])),
    }),
    section('Where metrics and traces go by OTLP, e.g. http://collector.monitoring:4318; nowhere if empty.', {
      otlpEndpoint: '',
      extraEnv: [],
    }),
    section(
      'With Knative Serving only where its ConfigMap config-features says kubernetes.podspec-nodeselector and\n# kubernetes.podspec-tolerations: enabled.',
      { nodeSelector: {}, tolerations: [] },
    ),
    section('What production adds; values-production.yaml switches all of it on.', {
      roles: { enabled: false },
      podDisruptionBudgets: { enabled: false },
      networkPolicies: {
        enabled: false,
        monitoringNamespace: usualSurroundings.monitoringNamespace,
        ingressNamespace: usualSurroundings.ingressNamespace,
      },
    }),
    section('The page that shows what happens: deploy/console/README.md.', { console: { enabled: false } }),
    section(
      "Rules and scrapes for Prometheus, where its operator's kinds are: deploy/monitoring/README.md.\n# Labels are those that it chooses by, such as release: kube-prometheus-stack.",
      { alerts: { enabled: false, labels: {} } },
    ),
  ].join('');
}

/** What values-production.yaml holds: with it the chart makes what deploy/production/serving does. */
export const productionValues = (functions: readonly FunctionDeclaration[]) => ({
  image: { repository: 'registry.example/ot-functions', tag: '0.1.0' },
  roles: { enabled: true },
  podDisruptionBudgets: { enabled: true },
  networkPolicies: { enabled: true },
  functions: Object.fromEntries(functions.map((declaration) => [declaration.name, { resources: sizeOf(declaration) }])),
});

const timers = () =>
  Object.fromEntries(
    timerManifests().map((ping) => {
      const { metadata, spec } = ping as typeof ping & { spec: { schedule: string } };
      return [metadata?.name ?? '', spec.schedule];
    }),
  );

/** What the manifests of knative/ ask for, which is the same for every function. */
function resourcesIn(functions: readonly FunctionDeclaration[]): unknown {
  const [first] = knativeServices(functions) as unknown as {
    spec: { template: { spec: { containers: { resources: unknown }[] } } };
  }[];
  return first?.spec.template.spec.containers[0]?.resources;
}

/** The name of a source among the values of the chart: a template can't read one with a hyphen. */
export const valueOfSource = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
