import { stringify } from 'yaml';
import { brokerSink } from '../../../knative/broker.ts';
import { filesOf } from '../../../knative/manifests.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { operatorNamespace, partOf, publicBroker } from '../../../shared/operator.ts';
import { documents } from '../../manifests.ts';
import { headerOf } from '../../yaml-text.ts';

/** The event types that functions publish; pipelines publish others. */
const factPrefixes = ['ot.pelotech.disk-image.', 'ot.pelotech.virtual-machine.', 'ot.pelotech.workspace.'];

/** The manifests of the Brokers and of every sender to one, whichever parts are installed but OpenStack. */
export const senders = (functions: readonly FunctionDeclaration[]): KubernetesObject[] =>
  [...filesOf(functions)]
    .filter(([path]) => /^(base|deployments|components\/[^/]+)\/[^/]+$/.test(path))
    .flatMap(([, text]) => documents(text));

/**
 * The EventPolicies of the senders in the cluster: once a Broker has a policy, its namespace may no longer post without one. A subject must
 * be in one policy only: Knative applies the first that names it, and no other.
 */
export function eventPolicies(manifests: readonly KubernetesObject[]) {
  const named = (kind: string) =>
    manifests
      .filter((object) => object.kind === kind && object.metadata.namespace === operatorNamespace)
      .map(({ metadata }) => metadata.name)
      .sort();
  const identity = (kind: string) =>
    named(kind).map((name) => `${name}-oidc-sources.knative.dev-${kind.toLowerCase()}`);
  const internal = named('Broker').filter((name) => name !== publicBroker);
  const facts = factPrefixes.map((type) => ({ prefix: { type } }));
  return [
    eventPolicy('functions', [publicBroker], named('Deployment'), [{ any: facts }]),
    eventPolicy('sources', internal, identity('ApiServerSource'), [{ prefix: { type: 'dev.knative.apiserver.ref.' } }]),
    eventPolicy('timers', internal, identity('PingSource'), [{ exact: { type: 'dev.knative.sources.ping' } }]),
  ];
}

const eventPolicy = (
  name: string,
  brokers: readonly string[],
  serviceAccounts: readonly string[],
  filters: readonly object[],
) => ({
  apiVersion: 'eventing.knative.dev/v1alpha1',
  kind: 'EventPolicy',
  metadata: { name, namespace: operatorNamespace, labels: partOf },
  spec: {
    to: brokers.map(brokerSink),
    from: serviceAccounts.map((account) => ({ sub: `system:serviceaccount:${operatorNamespace}:${account}` })),
    filters,
  },
});

const header = `${headerOf('the manifests in knative/')}# Senders are listed by name, not by "ref": a ref to a source that is not installed would make the whole Broker not ready.
`;

export const eventPoliciesText = (functions: readonly FunctionDeclaration[]) =>
  header +
  eventPolicies(senders(functions))
    .map((policy) => stringify(policy))
    .join('---\n');
