import type { FunctionDeclaration, Permission } from '../shared/function.ts';
import { inImagesRole, inWorkspaceRole, operatorNamespace, partOf } from '../shared/operator.ts';
import { groupOf, type Manifest } from './manifest.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** Each function's ServiceAccount with what it may do: a ClusterRole everywhere, a Role in the operator's namespace. */
export const permissionManifests = (functions: readonly FunctionDeclaration[]): Manifest[] =>
  functions.flatMap(({ name, may }) => [
    serviceAccount(name),
    ...bound('ClusterRole', name, rulesOf(may.filter(({ namespace }) => !namespace))),
    ...bound('Role', name, rulesOf(may.filter(({ namespace }) => namespace === 'own'))),
    ...unbound(inWorkspaceRole(name), rulesOf(may.filter(({ namespace }) => namespace === 'workspace'))),
    ...unbound(inImagesRole(name), rulesOf(may.filter(({ namespace }) => namespace === 'images'))),
  ]);

export const serviceAccount = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: operatorNamespace, labels: partOf },
});

/** Bound in single namespaces: in those that a function makes by the function, in those of images by an admin. */
const unbound = (name: string, rules: readonly Rule[]): Manifest[] =>
  rules.length === 0 ? [] : [{ apiVersion, kind: 'ClusterRole', metadata: { name, labels: partOf }, rules }];

interface Rule {
  resourceNames?: readonly string[];
  apiGroups: readonly string[];
  resources: readonly string[];
  verbs: readonly string[];
}

/** A role with these rules, in the operator's namespace or everywhere, and its binding to the ServiceAccount of that name. */
export function bound(kind: 'Role' | 'ClusterRole', name: string, rules: readonly Rule[]): Manifest[] {
  if (rules.length === 0) return [];
  const metadata =
    kind === 'Role'
      ? { name, namespace: operatorNamespace, labels: partOf }
      : { name: `${operatorNamespace}-${name}`, labels: partOf };
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup, kind, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: operatorNamespace }],
    },
  ];
}

/** One rule for each resource; what several permissions say of the same one is joined. */
function rulesOf(permissions: readonly Permission[]): Rule[] {
  const keyOf = ({ resource, subresource, names = [] }: Permission) =>
    [groupOf(resource.apiVersion), resource.plural, subresource ?? '', names.join(',')].join(' ');
  return [...Map.groupBy(permissions, keyOf)].map(([key, same]) => {
    const [group = '', plural = '', subresource = ''] = key.split(' ');
    const { names } = same[0] ?? {};
    return {
      apiGroups: [group],
      resources: [subresource ? `${plural}/${subresource}` : plural],
      ...(names ? { resourceNames: names } : {}),
      verbs: [...new Set(same.flatMap(({ verbs }) => verbs))],
    };
  });
}
