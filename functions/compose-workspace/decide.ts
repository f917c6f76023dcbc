import type { Action } from '../../shared/actions.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Workspace, workspaceFinalizer } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { keyOf, type Resource } from '../../shared/kinds/resource.ts';
import { owns } from '../../shared/kubernetes/ownership.ts';
import { traceOfWorkspace } from '../../shared/traces.ts';
import { imageNamesOf } from '../../shared/workspaces/images.ts';
import { namespaceOf } from '../../shared/workspaces/workspace.ts';
import { faultsOf } from './faults.ts';
import { imageRefOf } from './images/plan.ts';
import { namespaceStage, untilSettled } from './namespace/plan.ts';
import { foundProvider, providerIn } from './network/plan.ts';
import type { Observed } from './observed.ts';
import { type Plan, planOf } from './plan.ts';
import { type Finding, findingOf, formatCount, stand, summary } from './status.ts';
import { teardown } from './teardown.ts';

/**
 * Makes what a workspace is made of, stage by stage, and says how all of it stands. Order: finalizer → namespace and the right
 * to write there → the wall around it → images → networks, volumes → machines, containers → roles → what is wanted no more →
 * status. A crash in between is taken up where it happened.
 */
export function decide(observed: Observed): Action[] {
  const { workspace, images, inside } = observed;
  const machines = (inside?.machines ?? []).filter((machine) => owns(workspace, machine));
  const trace = traceOfWorkspace(workspace, images.values(), machines);
  return actionsFor(observed).map((action) => ({ ...action, trace }));
}

function actionsFor(observed: Observed): Action[] {
  const { workspace, isForbidden } = observed;
  if (workspace.metadata.deletionTimestamp) return teardown(observed);
  const faults = faultsOf(workspace.spec, providerIn(observed));
  if (faults.length > 0) return [...claim(observed), ...invalid(observed, faults)];
  const plan = planOf(observed);
  // What is not seen may be there: an image that is missing may be needed no more.
  const writes = isForbidden ? namespaceStage(observed).writes : plan.writes;
  return [...claim(observed), ...writes, ...standing(observed, plan), ...further(observed, plan)];
}

/** Before anything is made: what was made is taken down when the workspace goes. */
function claim({ workspace }: Observed): Action[] {
  const { finalizers = [] } = workspace.metadata;
  if (finalizers.includes(workspaceFinalizer)) return [];
  const metadata = { finalizers: [...finalizers, workspaceFinalizer] };
  return [{ do: 'patchMetadata', resource: Workspace, of: workspace, metadata }];
}

const valid: Finding = { type: 'SpecValid', status: 'True', reason: 'Valid', message: 'The spec fits together.' };

/** What is there stays as it is, and the other conditions say how it was when the spec was well. */
function invalid({ workspace, nowMs }: Observed, faults: readonly string[]): Action[] {
  const message = faults.join(' ');
  const before = (workspace.status?.conditions ?? []).filter(({ type }) => type !== 'SpecValid' && type !== 'Ready');
  const findings = [
    { type: 'SpecValid', status: 'False', reason: 'SpecInvalid', message } as const,
    ...before.map(({ type, status, reason, message: said }) => ({
      type: type as Finding['type'],
      status,
      reason,
      message: said,
    })),
  ];
  return stand(workspace, { phase: 'Failed', reason: 'SpecInvalid', message, findings, fields: {} }, nowMs);
}

function standing(observed: Observed, { stages }: Plan): Action[] {
  const { workspace, nowMs } = observed;
  const components = stages.flatMap((stage) => stage.components);
  const hasNetworks = (workspace.spec.networks ?? []).length > 0;
  const images = imageNamesOf(workspace)
    .map((name) => imageRefOf(observed, name))
    .filter((ref) => observed.images.has(keyOf(ref)));
  return stand(
    workspace,
    {
      ...summary(stages),
      findings: [valid, ...stages.map(findingOf)],
      fields: {
        components,
        ready: formatCount(components),
        namespace: namespaceOf(workspace.metadata.name),
        ...(hasNetworks && (foundProvider(observed) || stages.some(hasMadeNetworks))
          ? { networkProvider: providerIn(observed) }
          : {}),
        images,
      },
    },
    nowMs,
  );
}

const hasMadeNetworks = ({ condition, writes }: Plan['stages'][number]) =>
  condition === 'NetworksReady' && writes.length > 0;

/** What opens the way for the rest, and what no event will tell of. */
const goesOnAt: readonly Resource[] = [Namespace, RoleBinding, NetworkAttachmentDefinition];

/** Where one of these was made just now the rest is looked at in this pass; a right that is not known everywhere yet, soon. */
function further(observed: Observed, { writes, stages }: Plan): Action[] {
  const isEntered = writes.some((action) => action.do === 'create' && goesOnAt.includes(action.resource));
  return [
    ...(isEntered ? [{ do: 'requeue', about: observed.workspace } as const] : []),
    ...untilSettled(observed, stages),
  ];
}
