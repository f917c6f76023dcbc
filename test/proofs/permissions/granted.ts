import { distinct } from '../../../shared/distinct.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { inImagesRole, inWorkspaceRole } from '../../../shared/operator.ts';

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
  /** Only objects of these names. */
  names?: readonly string[] | undefined;
  /** Only in Namespaces of workspaces, where the function binds it itself. */
  inWorkspaces?: true;
  /** Only in namespaces of images, where an admin binds it. */
  inImages?: true;
}

/** What a Role or ClusterRole says. */
export interface PolicyRule {
  apiGroups: readonly string[];
  resources: readonly string[];
  verbs: readonly string[];
  resourceNames?: readonly string[];
}

interface Binding {
  roleRef: { kind: string; name: string };
  subjects: readonly { kind: string; name: string }[];
}

/** Every rule that the manifests grant to ServiceAccounts, each once. Throws for a binding whose role is not among them. */
export function grantedRules(manifests: readonly KubernetesObject[]): Rule[] {
  const unbound = [
    ...rulesOfRoles(manifests, inWorkspaceRole).map((rule) => ({ ...rule, inWorkspaces: true }) as const),
    ...rulesOfRoles(manifests, inImagesRole).map((rule) => ({ ...rule, inImages: true }) as const),
  ];
  const rules = [...boundRules(manifests), ...unbound];
  return distinct(rules, describeRule);
}

function boundRules(manifests: readonly KubernetesObject[]): Rule[] {
  const bindings = manifests.filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding');
  return bindings.flatMap((binding) => {
    const { roleRef, subjects } = binding as unknown as Binding;
    const role = manifests.find(({ kind, metadata }) => kind === roleRef.kind && metadata.name === roleRef.name);
    if (!role) throw new Error(`expected the ${roleRef.kind} ${roleRef.name} of a binding, found none`);
    const { namespace } = binding.metadata;
    const accounts = subjects.filter(({ kind }) => kind === 'ServiceAccount');
    return accounts.flatMap(({ name }) => rulesFor(name, role).map((rule) => ({ ...rule, namespace })));
  });
}

/** What accounts may do by roles of their own that the manifests do not bind. */
const rulesOfRoles = (manifests: readonly KubernetesObject[], roleOf: (account: string) => string): Rule[] =>
  manifests
    .filter(({ kind }) => kind === 'ServiceAccount')
    .flatMap(({ metadata: { name: account } }) =>
      manifests
        .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === roleOf(account))
        .flatMap((role) => rulesFor(account, role)),
    );

/** What a role lets an account do. */
export const rulesFor = (account: string, role: KubernetesObject): Rule[] =>
  singleRules(policyRulesOf(role)).map(
    ({ apiGroups: [group = ''], resources: [resource = ''], verbs: [verb = ''], resourceNames: names }) => ({
      account,
      group,
      resource,
      verb,
      namespace: undefined,
      names,
    }),
  );

/** The rule in words, with where it counts and for what. */
export const describeRule = (rule: Rule) =>
  [
    inWords(rule),
    ...(rule.names ? [`named ${rule.names.join(', ')}`] : []),
    ...(rule.namespace === undefined ? [] : [`in ${rule.namespace}`]),
    ...(rule.inWorkspaces ? ['in workspaces'] : []),
    ...(rule.inImages ? ['in namespaces of images'] : []),
  ].join(' ');

/** What a Role or ClusterRole says, as it was read. */
export const policyRulesOf = (role: KubernetesObject) => (role as unknown as { rules: readonly PolicyRule[] }).rules;

/** The rule as the local API server counts its requests: `start-sync patch vmdiskimages.pelotech.ot/status`. */
export const inWords = ({ account, group, resource, verb }: Pick<Rule, 'account' | 'group' | 'resource' | 'verb'>) => {
  const [plural, subresource] = resource.split('/');
  return `${account} ${verb} ${plural}${group && `.${group}`}${subresource ? `/${subresource}` : ''}`;
};

/** The same role without that rule; all others stay. */
export const without = (rules: readonly PolicyRule[], { group, resource, verb, names }: Rule): PolicyRule[] =>
  singleRules(rules).filter(
    ({ apiGroups, resources, verbs, resourceNames }) =>
      apiGroups[0] !== group ||
      resources[0] !== resource ||
      verbs[0] !== verb ||
      resourceNames?.join() !== names?.join(),
  );

/** One verb on one resource each. */
const singleRules = (rules: readonly PolicyRule[]): PolicyRule[] =>
  rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({
          apiGroups: [group],
          resources: [resource],
          verbs: [verb],
          ...(resourceNames ? { resourceNames } : {}),
        })),
      ),
    ),
  );
