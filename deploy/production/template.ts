import { timerOf } from '../../shared/event-filter.ts';
import { documentOf } from '../yaml-text.ts';

/** Objects as a Helm template: Helm fills in what is between `__` and `__`. */
export function templateOf(objects: readonly object[]): string {
  const text = objects.map(documentOf).join('---\n');
  if (text.includes('{{')) throw new Error('expected manifests without "{{", which Helm would interpret');
  return text.split('\n').map(filledIn).join('\n');
}

/** Objects that contain "{{" themselves, as a Helm template that renders them unchanged. */
export const literalOf = (objects: readonly object[]): string =>
  objects.map(documentOf).join('---\n').replaceAll('{{', '{{ "{{" }}');

/** A template that renders only if the condition holds. */
export const only = (condition: string | undefined, template: string) =>
  condition ? `{{- if ${condition} }}\n${template}{{- end }}\n` : template;

/** A manifest of knative/ with placeholders for values. */
export function withPlaces(object: object): object {
  const manifest = object as Workload & { kind: string; metadata: { name: string } };
  switch (manifest.kind) {
    case 'Broker':
      return brokerWithPlaces(object as Broker);
    case 'PingSource':
      return {
        ...manifest,
        spec: { ...manifest.spec, schedule: `__timers.${timerOf(manifest.metadata.name)}__` },
      };
    case 'ServiceAccount':
      return { ...manifest, metadata: { ...manifest.metadata, '__include accountAnnotations__': '' } };
    case 'Deployment':
      return workloadWithPlaces(manifest, manifest.metadata.name);
    case 'Service':
      return 'template' in manifest.spec ? workloadWithPlaces(manifest, manifest.metadata.name) : object;
    default:
      return object;
  }
}

/** The console's Deployment and NetworkPolicy with placeholders for values; other objects unchanged. */
export function consoleWithPlaces(object: object): object {
  const { kind, spec } = object as { kind: string; spec?: { template?: Pod; egress?: { to?: unknown }[] } };
  if (kind === 'NetworkPolicy' && spec?.egress) {
    const matchLabels = { 'kubernetes.io/metadata.name': '__networkPolicies.monitoringNamespace__' };
    const egress = spec.egress.map((rule) =>
      rule.to ? { ...rule, to: [{ namespaceSelector: { matchLabels } }] } : rule,
    );
    return { ...object, spec: { ...spec, egress } };
  }
  if (kind !== 'Deployment' || !spec?.template) return object;
  const { template } = spec;
  const { containers, ...pod } = template.spec;
  const filled = containers.map((container) => ({
    ...container,
    image: '__include image__',
    '__include pullPolicy__': '',
    '__include ownEnv__': '',
  }));
  const changed = { ...template, spec: { ...pod, '__include pod__': '', containers: filled } };
  return { ...object, spec: { ...spec, template: changed } };
}

interface Pod {
  spec: { containers: object[] };
}

interface Broker {
  metadata: { annotations: Record<string, string> };
  spec: object;
}

const brokerWithPlaces = (broker: Broker) => ({
  ...broker,
  metadata: {
    ...broker.metadata,
    annotations: { 'eventing.knative.dev/broker.class': '__broker.class__', '__include asyncHandler__': '' },
  },
  spec: { '__include brokerConfig__': '', ...broker.spec },
});

interface Workload {
  spec: {
    replicas?: number;
    template: {
      metadata: { labels: Record<string, string>; annotations: Record<string, string> };
      spec: { containers: { env: { name: string; value: string }[] }[] };
    };
  };
}

function workloadWithPlaces(workload: Workload, name: string): object {
  const { replicas, template } = workload.spec;
  const annotations = Object.entries(template.metadata.annotations).filter(([key]) => !key.startsWith('autoscaling.'));
  const scale = replicas === undefined ? { [`__scale ${name}__`]: '' } : {};
  const { containers, ...pod } = template.spec;
  return {
    ...workload,
    spec: {
      ...workload.spec,
      ...(replicas === undefined ? {} : { replicas: `__replicas ${name}__` }),
      template: {
        metadata: {
          ...template.metadata,
          labels: { ...template.metadata.labels, '__include podLabels__': '' },
          annotations: { ...Object.fromEntries(annotations), ...scale, '__include podAnnotations__': '' },
        },
        spec: {
          ...pod,
          '__include pod__': '',
          containers: containers.map((container) => ({
            ...container,
            image: '__include image__',
            '__include pullPolicy__': '',
            env: [...container.env.map(variableWithPlace), '__include env__'],
            resources: `__resources ${name}__`,
          })),
        },
      },
    },
  };
}

const variableWithPlace = ({ name, value }: { name: string; value: string }) => ({
  name,
  value: name === 'K_SINK' ? '__include sink__' : value,
});

/** A line with its placeholder, if it has one, replaced by a Helm expression. */
function filledIn(line: string): string {
  const found = /^(?<indent> *)(?:- )?(?<key>[^_\s][^:]*: )?"?__(?<what>[^_].*?)__"?(?:: "")?$/.exec(line)?.groups;
  if (!found) return embedded(line);
  const { indent = '', key, what = '' } = found;
  if (key) return `${line.slice(0, line.indexOf(key))}${key}${filledValueOf(what, indent.length + 2)}`;
  return `${indent}{{- ${blockOf(what)} | nindent ${indent.length} }}`;
}

/** Replaces placeholders inside a longer line: an item of a flow list, or a value after a dash. */
const embedded = (line: string) =>
  line.replaceAll(/"?__(\S+?)__"?/g, (_, what: string) => `{{ .Values.${what} | quote }}`);

function filledValueOf(what: string, indent: number): string {
  const [word = '', name = ''] = what.split(' ');
  if (word === 'include') return `{{ include "ot-functions.${name}" . | quote }}`;
  if (word === 'replicas') return `{{ max 1 (int ${functionValue(name)}.minScale) }}`;
  if (word === 'resources') {
    return `{{- include "ot-functions.resources" (dict "root" $ "own" ${functionValue(name)}) | nindent ${indent} }}`;
  }
  if (word === 'policy') return policyEntries(indent);
  return `{{ .Values.${what} | toString | quote }}`;
}

function blockOf(what: string): string {
  const [word = '', name = ''] = what.split(' ');
  return word === 'scale' ? `include "ot-functions.scale" ${functionValue(name)}` : `include "ot-functions.${name}" .`;
}

const functionValue = (name: string) => `(index .Values.functions "${name}")`;

const policyEntries = (indent: number) =>
  `\n${' '.repeat(indent)}{{- range $key, $value := .Values.policy }}\n${' '.repeat(indent)}{{ $key }}: {{ $value | toString | quote }}\n${' '.repeat(indent)}{{- end }}`;
