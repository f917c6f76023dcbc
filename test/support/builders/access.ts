import { ClusterRole } from '../../../shared/kinds/rbac/cluster-role.ts';
import { RoleBinding } from '../../../shared/kinds/rbac/role-binding.ts';
import { defineResource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

const group = 'rbac.authorization.k8s.io';
export const ClusterRoleBinding = defineResource(
  { apiVersion: `${group}/v1`, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
  {},
);
const Role = defineResource({ apiVersion: `${group}/v1`, kind: 'Role', plural: 'roles' }, {});
export const ServiceAccount = defineResource(
  { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts' },
  {},
);

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

interface Account {
  name: string;
  namespace: string;
}

/** Where a right counts: in its namespace, or without one everywhere. */
interface Place {
  name: string;
  namespace?: string;
}

export async function bind(kube: Kube, account: Account, metadata: Place, role: { kind: string; name: string }) {
  const binding = { roleRef: { apiGroup: group, ...role }, subjects: [{ kind: 'ServiceAccount', ...account }] };
  await kube.create(metadata.namespace ? RoleBinding : ClusterRoleBinding, { metadata, ...binding });
}

/** Gives a ServiceAccount these rights, by a role of that name. */
export async function allow(kube: Kube, account: Account, metadata: Place, rules: readonly Rule[]): Promise<void> {
  const role = metadata.namespace ? Role : ClusterRole;
  await kube.create(role, { metadata, rules });
  await bind(kube, account, metadata, { kind: role.kind, name: metadata.name });
}
