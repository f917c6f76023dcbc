import { readFileSync } from 'node:fs';
import { files as definitionFiles } from '../../crds/definitions.ts';
import { isByDefault } from '../../knative/functions.ts';
import { labelled, type Manifest } from '../../knative/manifest.ts';
import { filesOf } from '../../knative/manifests.ts';
import {
  networkPolicies,
  openStackNetworkPolicies,
  servingPolicies,
  usualSurroundings,
} from '../../knative/network-policies.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { partLabel, partOf } from '../../shared/operator.ts';
import { documents } from '../manifests.ts';
import { alerts } from '../monitoring/alerts.ts';
import { header as monitoringHeader } from '../monitoring/files.ts';
import { podMonitor } from '../monitoring/pod-monitor.ts';
import { recordings } from '../monitoring/recordings.ts';
import { prometheusRule } from '../monitoring/rules.ts';
import { header, headerOf, yamlOf } from '../yaml-text.ts';
import { chartSchema } from './chart-schema.ts';
import { chartReadme, chartValues, productionValues, valueOfSource } from './chart-values.ts';
import { eventTypes } from './event-types.ts';
import { hookObjects } from './helm-hooks.ts';
import { podDisruptionBudgets } from './pod-disruption-budgets.ts';
import { roleManifests } from './roles.ts';
import { consoleWithPlaces, literalOf, only, templateOf, withPlaces } from './template.ts';

/** The text of every generated file of the Helm chart, by its path in the chart. */
export function chartFiles(all: readonly FunctionDeclaration[]): Map<string, string> {
  const functions = all.filter(isByDefault);
  const onOpenStack = all.filter((declaration) => !isByDefault(declaration));
  const file = (name: string, objects: readonly object[], condition?: string) =>
    [`templates/${name}.yaml`, header + only(condition, templateOf(objects))] as const;
  return new Map([
    ...knativeTemplates(all),
    file('policy', [policy], '.Values.policy'),
    file('helm-hooks', hookObjects(), '.Values.hooks.enabled'),
    file('kafka', [kafkaConfig], 'eq .Values.broker.class "Kafka"'),
    file('event-types', eventTypes(), '.Values.eventTypes.enabled'),
    file('roles', roleManifests(), '.Values.roles.enabled'),
    file('network-policies', networkPolicies(functions, surroundings), '.Values.networkPolicies.enabled'),
    file(
      'openstack-network-policies',
      labelled('openstack', openStackNetworkPolicies(onOpenStack, surroundings) as Manifest[]),
      `and ${hasOpenStack} .Values.networkPolicies.enabled`,
    ),
    file(
      'internal-gateway',
      servingPolicies(surroundings),
      'and .Values.networkPolicies.closeInternalGateway (eq .Values.overlay "serving")',
    ),
    file('pod-disruption-budgets', podDisruptionBudgets(functions), '.Values.podDisruptionBudgets.enabled'),
    [
      'templates/console.yaml',
      headerOf('deploy/production/console/') +
        only('.Values.console.enabled', templateOf(consoleObjects().map(consoleWithPlaces))),
    ],
    ['templates/alerts.yaml', monitoringHeader + only('.Values.alerts.enabled', alertsTemplate())],
    ...definitions(),
    ['values.yaml', header + chartValues(all)],
    ['README.md', chartReadme(all)],
    ['values-production.yaml', yamlOf([productionValues(functions)])],
    ['values.schema.json', `${JSON.stringify(chartSchema(all), undefined, 2)}\n`],
  ]);
}

/** The conditions of files of knative/; the other files are always rendered. */
const conditions: Record<string, string> = {
  services: 'eq .Values.overlay "serving"',
  deployments: 'eq .Values.overlay "deployments"',
};

const hasOpenStack = '.Values.openstack.enabled';

/** The manifests of knative/ as templates, one for each file, except the network policies, which have places for names. */
function knativeTemplates(all: readonly FunctionDeclaration[]): [string, string][] {
  const files = [...filesOf(all)].filter(([path]) => !/\/(kustomization|network-policies)\.yaml$/.test(path));
  return files.map(([path, text]) => {
    const [folder = '', component = ''] = path.split('/');
    const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.yaml$/, '');
    const objects = objectsOf(text);
    if (folder === 'openstack') {
      const condition = conditions[name] ? `and ${hasOpenStack} (${conditions[name]})` : hasOpenStack;
      return [`templates/openstack-${name}.yaml`, header + only(condition, withConditions(objects, folder))];
    }
    const template =
      folder === 'components'
        ? only(hasSource(component), withConditions(objects, component))
        : only(conditions[name], withConditions(objects));
    return [`templates/${name}.yaml`, header + template];
  });
}

/** Objects as a template that leaves out the objects of a part whose source is off, except the part `known`, whose source is on. */
const withConditions = (objects: readonly Manifest[], known?: string) =>
  [...Map.groupBy(objects, ({ metadata }) => metadata?.labels?.[partLabel])]
    .map(([part, ofPart]) =>
      only(part && part !== known ? hasSource(part) : undefined, templateOf(ofPart.map(withPlaces))),
    )
    .join('---\n');

const hasSource = (name: string) => `.Values.sources.${valueOfSource(name)}`;

const objectsOf = (text: string) => documents(text) as Manifest[];

/** The objects of the component console/, which is written by hand. */
const consoleObjects = () =>
  ['permissions', 'console', 'network-policy'].flatMap((name) =>
    objectsOf(readFileSync(new URL(`console/${name}.yaml`, import.meta.url), 'utf8')),
  );

/** PodMonitor and PrometheusRule, with the labels that a Prometheus operator selects by. */
const alertsTemplate = () =>
  literalOf([podMonitor, prometheusRule(alerts, recordings)].map(withLabels)).replaceAll(
    /^( *)__labels__: ""\n/gm,
    (_, indent: string) =>
      `${indent}{{- with .Values.alerts.labels }}{{- toYaml . | nindent ${indent.length} }}{{- end }}\n`,
  );

const withLabels = ({ metadata, ...rest }: { metadata: { labels: object } }) => ({
  ...rest,
  metadata: { ...metadata, labels: { ...metadata.labels, __labels__: '' } },
});

const own = { namespace: 'sync-operator', labels: partOf };

const policy = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'sync-operator-policy',
    namespace: own.namespace,
    annotations: { 'helm.sh/resource-policy': 'keep' },
  },
  data: '__policy__',
};

const kafkaConfig = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sync-operator-kafka', ...own },
  data: {
    'bootstrap.servers': '__broker.kafka.bootstrapServers__',
    'default.topic.partitions': '__broker.kafka.partitions__',
    'default.topic.replication.factor': '__broker.kafka.replicationFactor__',
  },
};

const surroundings = {
  ...usualSurroundings,
  monitoringNamespace: '__networkPolicies.monitoringNamespace__',
  ingressNamespace: '__networkPolicies.ingressNamespace__',
};

/** Helm installs crds/ before everything else, and never changes or deletes them. */
const definitions = () => [...definitionFiles()].map(([name, text]) => [`crds/${name}`, withHeader(text)] as const);

const withHeader = (text: string) => header + text.replace(/^#.*\n/, '');
