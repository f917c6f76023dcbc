import { isByDefault } from '../../knative/functions.ts';
import { foreignSources } from '../../knative/manifests.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { type PolicyKey, parsePolicy } from '../../shared/policy.ts';
import { scaleOf, valueOfSource } from './chart-values.ts';

/** The JSON schema of the chart's values: Helm refuses a misspelt key before it applies anything. */
export const chartSchema = (functions: readonly FunctionDeclaration[]) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  ...closed({
    // Helm itself adds it to a subchart.
    global: { type: 'object' },
    image: closed({
      repository: { type: 'string', minLength: 1 },
      tag: text,
      digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
      pullPolicy: { enum: ['', 'Always', 'IfNotPresent', 'Never'] },
    }),
    imagePullSecrets: { type: 'array', items: closed({ name: text }) },
    overlay: { enum: ['serving', 'deployments'] },
    policy: closed(policyKeys()),
    broker: closed({
      class: { enum: ['MTChannelBasedBroker', 'Kafka'] },
      kafka: closed({ bootstrapServers: text, partitions: count(1), replicationFactor: count(1) }),
    }),
    timers: closed({ sweep: cron, audit: cron }),
    sources: closed(
      Object.fromEntries(foreignSources(functions.filter(isByDefault)).map((name) => [valueOfSource(name), yesOrNo])),
    ),
    resources: { type: 'object' },
    functions: closed(Object.fromEntries(functions.map((declaration) => [declaration.name, ofFunction(declaration)]))),
    otlpEndpoint: { type: 'string', pattern: '^(https?://.+)?$' },
    extraEnv: { type: 'array', items: { type: 'object', required: ['name'] } },
    nodeSelector: { type: 'object', additionalProperties: text },
    tolerations: { type: 'array', items: { type: 'object' } },
    affinity: { type: 'object' },
    topologySpreadConstraints: { type: 'array', items: { type: 'object' } },
    priorityClassName: text,
    podAnnotations: { type: 'object', additionalProperties: text },
    podLabels: { type: 'object', additionalProperties: text },
    serviceAccount: closed({ annotations: { type: 'object', additionalProperties: text } }),
    extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
    openstack: closed({ enabled: yesOrNo }),
    roles: closed({ enabled: yesOrNo }),
    podDisruptionBudgets: closed({ enabled: yesOrNo }),
    eventTypes: closed({ enabled: yesOrNo }),
    hooks: closed({ enabled: yesOrNo }),
    console: closed({ enabled: yesOrNo }),
    alerts: closed({ enabled: yesOrNo, labels: { type: 'object', additionalProperties: text } }),
    networkPolicies: closed({
      enabled: yesOrNo,
      monitoringNamespace: text,
      ingressNamespace: text,
      closeInternalGateway: yesOrNo,
    }),
  }),
});

const text = { type: 'string' };
const yesOrNo = { type: 'boolean' };
const cron = { type: 'string', pattern: '^\\S+( \\S+){4,5}$' };
const count = (least: number) => ({ type: 'integer', minimum: least });
const closed = (properties: Record<string, unknown>) => ({ type: 'object', additionalProperties: false, properties });

/** A function of scale `single` is refused a second instance: rivals make the slot Lease slower. */
const ofFunction = (declaration: FunctionDeclaration) => {
  const { minScale, maxScale } = scaleOf(declaration);
  const isSingle = declaration.scale === 'single';
  return closed({
    minScale: isSingle ? { const: minScale } : count(0),
    maxScale: isSingle ? { const: maxScale } : count(0),
    resources: { type: 'object' },
  });
};

/** Every key of the policy, with the expectation from its error message for an empty value. */
function policyKeys(): Record<string, unknown> {
  const names = Object.keys(parsePolicy(undefined).values) as PolicyKey[];
  const { faults } = parsePolicy({ data: Object.fromEntries(names.map((name) => [name, ''])) });
  const expected = new Map(faults.map((fault) => [fault.key, fault.expected]));
  return Object.fromEntries(
    names.map((name) => [name, { type: ['string', 'number', 'boolean'], description: expected.get(name) ?? '' }]),
  );
}
