import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { defineResource } from '../../shared/kinds/resource.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import type { FunctionHarness } from '../support/harness/function-harness.ts';

const group = 'rbac.authorization.k8s.io';
const cluster = { namespaced: false } as const;
const ClusterRole = defineResource(
  { apiVersion: `${group}/v1`, kind: 'ClusterRole', plural: 'clusterroles', ...cluster },
  {},
);
const ClusterRoleBinding = defineResource(
  { apiVersion: `${group}/v1`, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', ...cluster },
  {},
);
const Role = defineResource({ apiVersion: `${group}/v1`, kind: 'Role', plural: 'roles' }, {});
const ServiceAccount = defineResource({ apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' }, {});

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const write = ['get', 'list', 'create', 'update', 'patch', 'delete'];

/** What each author of machines may do. */
export const mayMakeMachines: Rule = { apiGroups: ['pelotech.ot'], resources: ['virtualmachines'], verbs: write };

/** What CDI gives to the role `edit`. */
export const mayMakeDataVolumes: Rule = { apiGroups: ['cdi.kubevirt.io'], resources: ['datavolumes'], verbs: write };

const account = { name: 'mallory', namespace: 'default' };

/** The client of a ServiceAccount that may make Workspaces, which have no namespace, and nothing else. */
export async function anAuthorOfWorkspaces({ kube, as }: FunctionHarness): Promise<Kube> {
  const metadata = { name: 'workspace-authors' };
  await kube.create(ServiceAccount, { metadata: account });
  await kube.create(ClusterRole, {
    metadata,
    rules: [{ apiGroups: ['pelotech.ot'], resources: ['workspaces'], verbs: write }],
  });
  await kube.create(ClusterRoleBinding, {
    metadata,
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  return as(account);
}

/** Lets the author of Workspaces read the Secrets of a namespace. */
export async function mayReadSecretsIn({ kube }: FunctionHarness, namespace: string): Promise<void> {
  const metadata = { name: 'authors-read', namespace };
  await kube.create(Role, { metadata, rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] }] });
  await kube.create(RoleBinding, {
    metadata,
    roleRef: { apiGroup: group, kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
}

/** The client of a ServiceAccount that may do this in a namespace of its own, and nothing anywhere else. */
export async function anAttacker(
  { kube, as }: FunctionHarness,
  namespace: string,
  rules: readonly Rule[],
): Promise<Kube> {
  const metadata = { name: 'mallory', namespace };
  await kube.create(Namespace, { metadata: { name: namespace } });
  await kube.create(ServiceAccount, { metadata });
  await kube.create(Role, { metadata, rules });
  await kube.create(RoleBinding, {
    metadata,
    roleRef: { apiGroup: group, kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  });
  return as(metadata);
}
