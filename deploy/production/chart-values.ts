import { isByDefault } from '../../knative/functions.ts';
import { foreignSources } from '../../knative/manifests.ts';
import { usualSurroundings } from '../../knative/network-policies.ts';
import { image, knativeServices } from '../../knative/services.ts';
import { schedules } from '../../knative/timers.ts';
import project from '../../package.json' with { type: 'json' };
import type { FunctionDeclaration } from '../../shared/function.ts';
import { exampleImage, imageParts } from '../image/image-name.ts';
import { documentOf, header } from '../yaml-text.ts';
import { sizeOf } from './sizes.ts';

/** The default numbers of instances of a function; a maxScale of 0 means no limit. */
export const scaleOf = ({ scale }: FunctionDeclaration) => ({
  minScale: scale === 'zero' ? 0 : 1,
  maxScale: 1,
});

/** Values with what a user has to know of them. */
interface Section {
  comment: string;
  values: Record<string, unknown>;
}

/** What values.yaml has, in its order. With these values the chart renders exactly knative/serving. */
const sections = (functions: readonly FunctionDeclaration[]): Section[] => [
  {
    comment: 'The image of all functions. Without a tag and a digest the chart of a release has its own.',
    values: { image: { repository: image, tag: '', digest: '', pullPolicy: '' }, imagePullSecrets: [] },
  },
  {
    comment: 'How functions run: serving (Knative Services) or deployments.',
    values: { overlay: 'serving' },
  },
  {
    comment:
      'The keys of ConfigMap sync-operator-policy, as deploy/production/README.md lists them. If this is empty, the ConfigMap is not part of the release: apply and edit it yourself.',
    values: { policy: {} },
  },
  {
    comment: 'MTChannelBasedBroker (in memory) or Kafka. The class of a Broker that exists cannot be changed.',
    values: {
      broker: {
        class: 'MTChannelBasedBroker',
        kafka: { bootstrapServers: '', partitions: 10, replicationFactor: 3 },
      },
    },
  },
  {
    comment:
      'Schedules of the timers: cron with seconds first. A change whose event was lost is found at the next tick.',
    values: { timers: schedules },
  },
  {
    comment:
      'Sources of the kinds of other operators; a source crashes if their CRDs are missing. Without kubevirt, provision-vm is left out too; images do not need it.',
    values: {
      sources: Object.fromEntries(
        foreignSources(functions.filter(isByDefault)).map((name) => [valueOfSource(name), true]),
      ),
    },
  },
  {
    comment:
      'The functions for machines, networks and volumes on OpenStack, whose address is in Secrets: functions/README.md.',
    values: { openstack: { enabled: false } },
  },
  {
    comment: 'Resources of each container; `functions` below overrides them.',
    values: { resources: resourcesIn(functions) },
  },
  {
    comment: 'Settings of each function: minScale, maxScale (0: no limit), resources.',
    values: { functions: Object.fromEntries(functions.map((declaration) => [declaration.name, scaleOf(declaration)])) },
  },
  {
    comment: 'The OTLP endpoint for metrics and traces, e.g. http://collector.monitoring:4318; empty: none are sent.',
    values: { otlpEndpoint: '' },
  },
  { comment: 'More environment variables of each container.', values: { extraEnv: [] } },
  {
    comment:
      'Of each Pod. Knative Serving accepts them only if its ConfigMap config-features enables kubernetes.podspec-nodeselector, -tolerations, -affinity, -topologyspreadconstraints and -priorityclassname.',
    values: { nodeSelector: {}, tolerations: [], affinity: {}, topologySpreadConstraints: [], priorityClassName: '' },
  },
  { comment: 'Added to those of the Pods of functions.', values: { podAnnotations: {}, podLabels: {} } },
  {
    comment: 'Annotations of each ServiceAccount, such as for the identity that a cloud gives it.',
    values: { serviceAccount: { annotations: {} } },
  },
  { comment: 'Objects that are installed with the release, as templates.', values: { extraObjects: [] } },
  {
    comment: 'Additions for production; values-production.yaml enables all.',
    values: { roles: { enabled: false }, podDisruptionBudgets: { enabled: false }, eventTypes: { enabled: false } },
  },
  {
    comment:
      'Ingress and egress of functions. closeInternalGateway concerns all Knative Services of the cluster: "Network policies" in deploy/production/README.md.',
    values: {
      networkPolicies: {
        enabled: true,
        monitoringNamespace: usualSurroundings.monitoringNamespace,
        ingressNamespace: usualSurroundings.ingressNamespace,
        closeInternalGateway: false,
      },
    },
  },
  {
    comment:
      'Jobs before the release is deleted (nothing is left that hangs in Terminating; refused while workspaces exist), after an upgrade (no dead subscriber is left), and for helm test. --no-hooks leaves them out once.',
    values: { hooks: { enabled: true } },
  },
  { comment: 'The web console: deploy/console/README.md.', values: { console: { enabled: false } } },
  {
    comment:
      'PrometheusRule and PodMonitor, if the Prometheus operator is installed: deploy/monitoring/README.md. Set the labels that it selects by, such as release: kube-prometheus-stack.',
    values: { alerts: { enabled: false, labels: {} } },
  },
];

/** The text of values.yaml. */
export const chartValues = (functions: readonly FunctionDeclaration[]): string =>
  sections(functions)
    .map(({ comment, values }) => `\n${wrapped(comment)}\n${documentOf(values)}`)
    .join('');

const wrapped = (text: string) => text.replace(/(?=\S)(.{1,116})(?:\s+|$)/g, '# $1\n').trimEnd();

/** The README of the chart, with the table that helm-docs would make. */
export function chartReadme(functions: readonly FunctionDeclaration[]): string {
  const rows = sections(functions).flatMap(({ comment, values }) =>
    leavesOf(values).map(
      ([key, value], index) =>
        `| ${key} | ${typeOf(value)} | \`${JSON.stringify(value)}\` | ${index === 0 ? comment.replaceAll('|', '\\|') : ''} |`,
    ),
  );
  return `${readmeHead}## Values

| Key | Type | Default | Description |
|-----|------|---------|-------------|
${rows.join('\n')}
`;
}

const readmeHead = `<!-- ${header.slice(2).trim()} -->

# ot-functions

Event functions that manage the disk images, virtual machines and workspaces of Open Terrain.

\`\`\`sh
helm install ot-functions oci://registry.example/charts/ot-functions --namespace sync-operator --create-namespace --wait
helm test ot-functions --namespace sync-operator
kubectl apply --server-side --force-conflicts -f crds.yaml   # before each upgrade: Helm never changes an existing CRD
helm upgrade ot-functions oci://registry.example/charts/ot-functions --namespace sync-operator --reset-then-reuse-values
helm uninstall ot-functions --namespace sync-operator        # machines, images and CRDs stay
\`\`\`

The namespace must be \`sync-operator\`. What each value is for, and what Helm does not do: [deploy/production](${project.homepage}/blob/main/deploy/production/README.md#helm).

`;

const typeOf = (value: unknown) =>
  Array.isArray(value)
    ? 'list'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'number'
        ? 'int'
        : typeof value;

/** The leaves of the values, by their paths. */
function leavesOf(values: Record<string, unknown>, prefix = ''): [key: string, value: unknown][] {
  return Object.entries(values).flatMap(([key, value]) => {
    const isBranch = typeof value === 'object' && !Array.isArray(value) && Object.keys(value ?? {}).length > 0;
    const path = `${prefix}${key}`;
    return isBranch ? leavesOf(value as Record<string, unknown>, `${path}.`) : [[path, value] as [string, unknown]];
  });
}

const exampleParts = imageParts(exampleImage);

/** The content of values-production.yaml, with which the chart renders deploy/production/serving. */
export const productionValues = (functions: readonly FunctionDeclaration[]) => ({
  image: { repository: exampleParts.repository, tag: exampleParts.tag },
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
