import type { KubernetesObject } from '../../shared/resources/resource.ts';

/** One thing that a ServiceAccount may do: the smallest part of a Role that can be taken away. */
export interface Rule {
  /** The ServiceAccount, in the operator's namespace. */
  account: string;
  group: string;
  /** With its subresource: `vmdiskimages/status`. */
  resource: string;
  verb: string;
  /** Where; everywhere if absent. */
  namespace: string | undefined;
}

/** What a Role or ClusterRole says. */
export interface PolicyRule {
  apiGroups: readonly string[];
  resources: readonly string[];
  verbs: readonly string[];
}

interface Binding {
  roleRef: { kind: string; name: string };
  subjects: readonly { kind: string; name: string }[];
}

/** Every rule that the manifests grant to ServiceAccounts, each once. Throws for a binding whose role is not among them. */
export function grantedRules(manifests: readonly KubernetesObject[]): Rule[] {
  const bindings = manifests.filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding');
  const rules = bindings.flatMap((binding) => {
    const { roleRef, subjects } = binding as unknown as Binding;
    const role = manifests.find(({ kind, metadata }) => kind === roleRef.kind && metadata.name === roleRef.name);
    if (!role) throw new Error(`expected the ${roleRef.kind} ${roleRef.name} of a binding, found none`);
    const { namespace } = binding.metadata;
    const accounts = subjects.filter(({ kind }) => kind === 'ServiceAccount');
    return accounts.flatMap(({ name: account }) =>
      singleRules(policyRulesOf(role)).map(
        ({ apiGroups: [group = ''], resources: [resource = ''], verbs: [verb = ''] }) => ({
          account,
          group,
          resource,
          verb,
          namespace,
        }),
      ),
    );
  });
  return [...new Map(rules.map((rule) => [`${inWords(rule)} ${rule.namespace}`, rule])).values()];
}

/** What a Role or ClusterRole says, as it was read. */
export const policyRulesOf = (role: KubernetesObject) => (role as unknown as { rules: readonly PolicyRule[] }).rules;

/** The rule as the local API server counts its requests: `start-sync patch vmdiskimages.pelotech.ot/status`. */
export const inWords = ({ account, group, resource, verb }: Omit<Rule, 'namespace'>) => {
  const [plural, subresource] = resource.split('/');
  return `${account} ${verb} ${plural}${group && `.${group}`}${subresource ? `/${subresource}` : ''}`;
};

/** The same role without that rule; all others stay. */
export const without = (rules: readonly PolicyRule[], { group, resource, verb }: Rule): PolicyRule[] =>
  singleRules(rules).filter(
    ({ apiGroups, resources, verbs }) => apiGroups[0] !== group || resources[0] !== resource || verbs[0] !== verb,
  );

/** One verb on one resource each. */
const singleRules = (rules: readonly PolicyRule[]): PolicyRule[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({ apiGroups: [group], resources: [resource], verbs: [verb] })),
      ),
    ),
  );
