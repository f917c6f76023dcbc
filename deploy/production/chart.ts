import { parseAllDocuments } from 'yaml';
import { files as definitionFiles } from '../../crds/generate.ts';
import { filesOf } from '../../knative/manifests.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { chartSchema } from './chart-schema.ts';
import { chartValues, productionValues } from './chart-values.ts';
import { networkPolicies, usualSurroundings } from './network-policies.ts';
import { podDisruptionBudgets } from './pod-disruption-budgets.ts';
import { ownKinds, roleManifests } from './roles.ts';
import { only, templateOf, withPlaces } from './template.ts';
import { header, yamlOf } from './written-file.ts';

/** The text of every generated file of the Helm chart, by its path in the chart. */
export function chartFiles(functions: readonly FunctionDeclaration[]): Map<string, string> {
  const template = (name: string, objects: readonly object[], condition?: string) =>
    [`templates/${name}.yaml`, header + only(condition, templateOf(objects))] as const;
  return new Map([
    ...knativeTemplates(functions).map(({ name, objects, condition }) => template(name, objects, condition)),
    template('policy', [policy], '.Values.policy'),
    template('kafka', [kafkaConfig], 'eq .Values.broker.class "Kafka"'),
    template('roles', roleManifests(ownKinds()), '.Values.roles.enabled'),
    template('network-policies', networkPolicies(functions, surroundings), '.Values.networkPolicies.enabled'),
    template('pod-disruption-budgets', podDisruptionBudgets(functions), '.Values.podDisruptionBudgets.enabled'),
    ...definitions(),
    ['values.yaml', header + chartValues(functions)],
    ['values-production.yaml', yamlOf([productionValues(functions)])],
    ['values.schema.json', `${JSON.stringify(chartSchema(functions), undefined, 2)}\n`],
  ]);
}

/** Which files of knative/ are there under which condition; the others always are. */
const conditions: Record<string, string> = {
  services: 'eq .Values.overlay "serving"',
  deployments: 'eq .Values.overlay "deployments"',
};

function knativeTemplates(functions: readonly FunctionDeclaration[]) {
  const manifests = [...filesOf(functions)].filter(([path]) => !path.endsWith('/kustomization.yaml'));
  return manifests.map(([path, text]) => {
    const [folder = '', component = ''] = path.split('/');
    const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.yaml$/, '');
    const condition = folder === 'components' ? `.Values.sources.${component}` : conditions[name];
    return { name, condition, objects: objectsOf(text).map(withPlaces) };
  });
}

const objectsOf = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as object);

const own = { namespace: 'sync-operator', labels: { 'app.kubernetes.io/part-of': 'ot-functions' } };

const policy = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sync-operator-policy', namespace: own.namespace },
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

/** Helm installs what is in crds/ before everything else, and never changes or deletes it. */
const definitions = () => [...definitionFiles()].map(([name, text]) => [`crds/${name}`, withHeader(text)] as const);

const withHeader = (text: string) => header + text.replace(/^#.*\n/, '');
