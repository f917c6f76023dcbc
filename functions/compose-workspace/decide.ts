import type { Action } from '../../shared/actions.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Workspace, type WorkspaceCondition, workspaceFinalizer } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { isNotSo, isSo } from '../../shared/kubernetes/status.ts';
import { traceOfWorkspace } from '../../shared/traces.ts';
import { namespaceOf } from '../../shared/workspaces/workspace.ts';
import { faultsOf } from './faults.ts';
import { untilSettled } from './namespace/plan.ts';
import { foundProvider, type Provider, providerFor } from './network/plan.ts';
import { type Observed, type Own, ownObjects } from './observed.ts';
import { type Plan, planOf } from './plan.ts';
import type { Stage } from './stage.ts';
import { findingOf, formatCount, stand, summary } from './status.ts';
import { teardown } from './teardown.ts';

/**
 * Makes what a workspace is made of, stage by stage, and says how all of it stands. Order: finalizer → namespace and the right
 * to write there → the wall around it → images → networks, volumes → machines, containers → roles → what is wanted no more →
 * status. A crash in between is taken up where it happened.
 */
export function decide(observed: Observed): Action[] {
  const own = ownObjects(observed);
  const trace = traceOfWorkspace(observed.workspace, observed.images.values(), own.machines);
  return actionsFor(observed, own).map((action) => ({ ...action, trace }));
}

function actionsFor(observed: Observed, own: Own): Action[] {
  const { workspace, policy, nowMs } = observed;
  if (workspace.metadata.deletionTimestamp) return teardown(observed, own);
  const provider = providerFor(workspace, own, policy);
  const faults = faultsOf(workspace.spec, provider);
  if (faults.length > 0) return [...claim(workspace), ...invalid(workspace, faults, nowMs)];
  const plan = planOf(observed, own, provider);
  const networkProvider = foundProvider(own) || plan.stages.some(makesNetworks) ? provider : undefined;
  return [
    ...claim(workspace),
    ...plan.writes,
    ...standing(workspace, plan, networkProvider, nowMs),
    ...(plan.writes.some(isEntrance) ? [{ do: 'requeue', about: workspace } as const] : []),
    ...untilSettled(observed, plan.stages),
  ];
}

/** Before anything is made: what was made is taken down when the workspace goes. */
function claim(workspace: Workspace): Action[] {
  const { finalizers = [] } = workspace.metadata;
  if (finalizers.includes(workspaceFinalizer)) return [];
  const metadata = { finalizers: [...finalizers, workspaceFinalizer] };
  return [{ do: 'patchMetadata', resource: Workspace, of: workspace, metadata }];
}

/** What opens the way for the rest, and what no event will tell of: the rest is looked at in this pass, too. */
const isEntrance = (action: Action) =>
  action.do === 'create' &&
  [Namespace, RoleBinding, NetworkAttachmentDefinition].some(({ kind }) => kind === action.resource.kind);

const makesNetworks = ({ condition, writes }: Stage) => condition === 'NetworksReady' && writes.length > 0;

const valid = isSo('SpecValid', 'Valid', 'The spec fits together.');

/** What is there stays as it is, and the other conditions say how it was when the spec was well. */
function invalid(workspace: Workspace, faults: readonly string[], nowMs: number): Action[] {
  const message = faults.join(' ');
  const before = (workspace.status?.conditions ?? []).filter(({ type }) => type !== 'SpecValid' && type !== 'Ready');
  const findings = [
    isNotSo('SpecValid', 'SpecInvalid', message),
    ...before.map((one) => ({ ...one, type: one.type as WorkspaceCondition })),
  ];
  return stand(workspace, { phase: 'Failed', reason: 'SpecInvalid', message, findings, fields: {} }, nowMs);
}

function standing(
  workspace: Workspace,
  { stages, wanted }: Plan,
  networkProvider: Provider | undefined,
  nowMs: number,
): Action[] {
  const components = stages.flatMap((stage) => stage.components);
  const hasNetworks = (workspace.spec.networks ?? []).length > 0;
  const fields = {
    components,
    ready: formatCount(components),
    namespace: namespaceOf(workspace.metadata.name),
    ...(hasNetworks && networkProvider ? { networkProvider } : {}),
    images: [...wanted.values()].flatMap(({ ref, image }) => (image ? [ref] : [])),
  };
  const findings = [valid, ...stages.map(findingOf)];
  return stand(workspace, { ...summary(stages), findings, fields }, nowMs);
}
