import type { Action } from '../../../shared/actions.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { NetworkPolicy } from '../../../shared/kinds/networking/network-policy.ts';
import { RoleBinding } from '../../../shared/kinds/rbac/role-binding.ts';
import { inWorkspaceRole, operatorNamespace } from '../../../shared/operator.ts';
import { namespaceOf, workspacePrefix } from '../../../shared/workspaces/workspace.ts';
import { type Child, isGrantNew, type Made, make } from '../child.ts';
import type { Observed } from '../observed.ts';
import { component, ready, type Stage, standingOf } from '../stage.ts';

const functionName = 'compose-workspace';

/** What the function may do in the namespace of a workspace, and nowhere else. */
export const grantName = inWorkspaceRole(functionName);

/** The Namespace, the right to write in it, and the wall around it, before anything runs there. */
export function homeStage(observed: Observed): Stage {
  const { workspace, namespace, grant, inside } = observed;
  const name = namespaceOf(workspace.metadata.name);
  const home = make(observed, namespaceChild(name), namespace);
  const right = unlessNotEffective(observed, make(observed, grantChild(name), grant));
  const wall = make(
    observed,
    wallChild(name),
    inside?.networkPolicies.find((one) => one.metadata.name === wallName),
  );
  const made = home.obstacle ? [home] : [home, right, ...(inside ? [wall] : [])];
  // The wall is written before all that follows in this pass: it need not be there yet.
  const standing = standingOf(made.filter((one) => one !== wall || one.obstacle));
  return {
    condition: 'NamespaceReady',
    writes: made.flatMap(({ writes }) => writes).map(heldUp),
    components: [component('Namespace', name, standing ?? ready('Created', `Namespace ${name} is there.`))],
  };
}

/** A right that the API server does not know of is not there, however well its RoleBinding looks. */
function unlessNotEffective(observed: Observed, right: Made): Made {
  if (!observed.isForbidden || right.obstacle) return right;
  const namespace = namespaceOf(observed.workspace.metadata.name);
  const isOnItsWay = right.writes.length > 0 || isGrantNew(observed);
  const obstacle = {
    reason: 'Forbidden',
    message: `Expected RoleBinding ${namespace}/${grantName} to let ${functionName} look into the namespace, found it refused; see that ClusterRole ${grantName} is there as it was installed.`,
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

/** What follows is not done without it. */
const heldUp = (action: Action): Action => {
  if (action.do !== 'create' && action.do !== 'replace') return action;
  const { independent: _apart, ...alone } = action;
  return alone;
};

/** Pods may be root in it, as KubeVirt's launchers and the labs' own containers are. */
const namespaceChild = (name: string): Child => ({
  resource: Namespace,
  ref: { name },
  labels: { 'pod-security.kubernetes.io/enforce': 'privileged' },
  fields: {},
});

const grantChild = (namespace: string): Child => ({
  resource: RoleBinding,
  ref: { namespace, name: grantName },
  fields: {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: grantName },
    subjects: [{ kind: 'ServiceAccount', name: functionName, namespace: operatorNamespace }],
  },
});

const wallName = `${workspacePrefix}deny-all`;

/**
 * Nobody gets in or out over the network of the cluster; the labs' own networks are not under it. CDI's Pods are let be: a
 * disk that cannot be cloned by the storage is copied from Pod to Pod.
 */
const wallChild = (namespace: string): Child => ({
  resource: NetworkPolicy,
  ref: { namespace, name: wallName },
  annotations: { 'ovn.kubernetes.io/network_policy_for': 'ovn' },
  fields: {
    spec: {
      podSelector: {
        matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['containerized-data-importer'] }],
      },
      policyTypes: ['Ingress', 'Egress'],
      // Said, so that somebody's way through the wall is seen as a difference.
      ingress: [],
      egress: [],
    },
  },
});
