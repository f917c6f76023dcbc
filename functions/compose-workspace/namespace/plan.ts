import type { Action } from '../../../shared/actions.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { NetworkPolicy } from '../../../shared/kinds/networking/network-policy.ts';
import { RoleBinding } from '../../../shared/kinds/rbac/role-binding.ts';
import { inWorkspaceRole, operatorNamespace } from '../../../shared/operator.ts';
import { namespaceOf, workspacePrefix } from '../../../shared/workspaces/workspace.ts';
import { type Child, isRoleBindingNew, type Made, type Make, named } from '../child.ts';
import type { Observed } from '../observed.ts';
import { component, ready, type Stage, statusOf } from '../stage.ts';

const functionName = 'compose-workspace';

/** What the function may do in the namespace of a workspace, and nowhere else. */
export const roleBindingName = inWorkspaceRole(functionName);

type NamespaceInput = Pick<Observed, 'workspace' | 'namespace' | 'roleBinding' | 'inside' | 'isForbidden' | 'nowMs'>;

/** The Namespace, the RoleBinding to write in it, and the NetworkPolicy that isolates it, before anything runs there. */
export function namespaceStage(
  { workspace, namespace, roleBinding, inside, isForbidden, nowMs }: NamespaceInput,
  make: Make,
): Stage {
  const name = namespaceOf(workspace.metadata.name);
  const ofNamespace = make(namespaceChild(name), namespace);
  const granted = make(roleBindingChild, roleBinding);
  const isOnItsWay = granted.writes.length > 0 || isRoleBindingNew(roleBinding, nowMs);
  const obstacle = granted.obstacle ?? (isForbidden ? notEffective(name, isOnItsWay) : undefined);
  const denyAll = inside && make(denyAllChild, named(inside.networkPolicies, denyAllChild.name));
  const made = ofNamespace.obstacle
    ? [ofNamespace]
    : [ofNamespace, { ...granted, obstacle }, ...(denyAll ? [denyAll] : [])];
  // The NetworkPolicy is written before everything that follows in this reconcile, so it need not exist yet.
  const status = statusOf(made.filter((one) => one !== denyAll || one.obstacle));
  return {
    condition: 'NamespaceReady',
    writes: made.flatMap(({ writes }) => writes),
    components: [component('Namespace', name, status ?? ready('Created', `Namespace ${name} exists.`))],
  };
}

/** The API server refuses what the RoleBinding grants. */
const notEffective = (namespace: string, isOnItsWay: boolean): Made['obstacle'] => ({
  reason: 'Forbidden',
  message: `Expected RoleBinding ${namespace}/${roleBindingName} to let ${functionName} look into the namespace, found it refused; check that ClusterRole ${roleBindingName} exists as it was installed.`,
  isFinal: !isOnItsWay,
});

type Rights = Pick<Observed, 'workspace' | 'refusals' | 'isForbidden'>;

/** While the RoleBinding is new, the events are redelivered soon: no event reports when it is effective everywhere. */
export function untilSettled({ workspace, refusals, isForbidden }: Rights, stages: readonly Stage[]): Action[] {
  const isRefused = refusals.size > 0 || isForbidden === true;
  const isSettling = stages.some(({ components }) =>
    components.some(({ phase, reason }) => phase === 'Provisioning' && reason === 'Forbidden'),
  );
  const because = `the rights in ${namespaceOf(workspace.metadata.name)} are new`;
  return isRefused && isSettling ? [{ do: 'redeliver', because }] : [];
}

/** Pods may be root in it, as KubeVirt's launchers and the labs' own containers are. */
const namespaceChild = (name: string): Child => ({
  resource: Namespace,
  name,
  labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
  fields: {},
});

const roleBindingChild: Child = {
  resource: RoleBinding,
  name: roleBindingName,
  fields: {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleBindingName },
    subjects: [{ kind: 'ServiceAccount', name: functionName, namespace: operatorNamespace }],
  },
};

/**
 * Nothing gets in or out over the cluster network; the labs' own networks are not affected. CDI's Pods are exempt: a disk that
 * the storage cannot clone is copied from Pod to Pod.
 */
const denyAllChild: Child = {
  resource: NetworkPolicy,
  name: `${workspacePrefix}deny-all`,
  annotations: { 'ovn.kubernetes.io/network_policy_for': 'ovn' },
  fields: {
    spec: {
      podSelector: {
        matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['containerized-data-importer'] }],
      },
      policyTypes: ['Ingress', 'Egress'],
      // Explicit, so that a rule that a user adds shows as a difference.
      ingress: [],
      egress: [],
    },
  },
};
