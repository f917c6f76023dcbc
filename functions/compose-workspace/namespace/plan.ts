import type { Action } from '../../../shared/actions.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { NetworkPolicy } from '../../../shared/kinds/networking/network-policy.ts';
import { RoleBinding } from '../../../shared/kinds/rbac/role-binding.ts';
import { inWorkspaceRole, operatorNamespace } from '../../../shared/operator.ts';
import { namespaceOf, workspacePrefix } from '../../../shared/workspaces/workspace.ts';
import { type Child, isRoleBindingNew, type Made, make } from '../child.ts';
import type { Observed } from '../observed.ts';
import { component, ready, type Stage, standingOf } from '../stage.ts';

const functionName = 'compose-workspace';

/** What the function may do in the namespace of a workspace, and nowhere else. */
export const roleBindingName = inWorkspaceRole(functionName);

/** The Namespace, the RoleBinding to write in it, and the NetworkPolicy that isolates it, before anything runs there. */
export function namespaceStage(observed: Observed): Stage {
  const { workspace, namespace, roleBinding, inside } = observed;
  const name = namespaceOf(workspace.metadata.name);
  const ofNamespace = make(observed, namespaceChild(name), namespace);
  const right = unlessNotEffective(observed, make(observed, roleBindingChild(name), roleBinding));
  const denyAll = make(
    observed,
    denyAllChild(name),
    inside?.networkPolicies.find((one) => one.metadata.name === denyAllName),
  );
  const made = ofNamespace.obstacle ? [ofNamespace] : [ofNamespace, right, ...(inside ? [denyAll] : [])];
  // The NetworkPolicy is written before everything that follows in this pass, so it need not exist yet.
  const standing = standingOf(made.filter((one) => one !== denyAll || one.obstacle));
  return {
    condition: 'NamespaceReady',
    writes: made.flatMap(({ writes }) => writes),
    components: [component('Namespace', name, standing ?? ready('Created', `Namespace ${name} is there.`))],
  };
}

/** A right that the API server does not know of is not there, however well its RoleBinding looks. */
function unlessNotEffective(observed: Observed, right: Made): Made {
  if (!observed.isForbidden || right.obstacle) return right;
  const namespace = namespaceOf(observed.workspace.metadata.name);
  const isOnItsWay = right.writes.length > 0 || isRoleBindingNew(observed);
  const obstacle = {
    reason: 'Forbidden',
    message: `Expected RoleBinding ${namespace}/${roleBindingName} to let ${functionName} look into the namespace, found it refused; see that ClusterRole ${roleBindingName} is there as it was installed.`,
    isFinal: !isOnItsWay,
  };
  return { ...right, obstacle };
}

/** A right that is not known everywhere yet is tried again soon: no event tells when it is. */
export function untilSettled({ workspace, refusals, isForbidden }: Observed, stages: readonly Stage[]): Action[] {
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
  ref: { name },
  labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
  fields: {},
});

const roleBindingChild = (namespace: string): Child => ({
  resource: RoleBinding,
  ref: { namespace, name: roleBindingName },
  fields: {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleBindingName },
    subjects: [{ kind: 'ServiceAccount', name: functionName, namespace: operatorNamespace }],
  },
});

const denyAllName = `${workspacePrefix}deny-all`;

/**
 * Nobody gets in or out over the network of the cluster; the labs' own networks are not under it. CDI's Pods are let be: a
 * disk that cannot be cloned by the storage is copied from Pod to Pod.
 */
const denyAllChild = (namespace: string): Child => ({
  resource: NetworkPolicy,
  ref: { namespace, name: denyAllName },
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
});
