import type { Action } from '../../shared/actions.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Workspace, type WorkspaceCondition, workspaceFinalizer } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { isNotSo, isSo } from '../../shared/kubernetes/status.ts';
import { repeated } from '../../shared/reasons/reason.ts';
import { traceOfWorkspace } from '../../shared/traces.ts';
import { imageLabelChanges } from '../../shared/workspaces/images.ts';
import { namespaceOf } from '../../shared/workspaces/workspace.ts';
import { faultsOf } from './faults.ts';
import {
  annotationFaults,
  expire,
  lifetimeFaults,
  lifetimeFields,
  requeueInTime,
  warn,
  warningConditions,
  warningTypes,
} from './lifetime.ts';
import { untilSettled } from './namespace/plan.ts';
import { foundProvider, type Provider, providerFor } from './network/plan.ts';
import { type Observed, type Own, ownObjects } from './observed.ts';
import { type Plan, planOf } from './plan.ts';
import { nextOfSchedule, scheduled } from './schedule/schedule.ts';
import type { Stage } from './stage.ts';
import { conditionOfStage, formatCount, hibernating, summary, updateStatus, type WorkspaceReport } from './status.ts';
import { teardown } from './teardown.ts';

/**
 * Makes the objects of a workspace, stage by stage, and reports their state. Order: finalizer and labels → namespace, RoleBinding,
 * NetworkPolicy → images → networks, volumes → machines, containers → roles → deletion of obsolete objects → status. After a
 * crash in between, the next reconcile continues.
 */
export function decide(observed: Observed): Action[] {
  const own = ownObjects(observed);
  const trace = traceOfWorkspace(observed.workspace, observed.images.values(), own.machines);
  return actionsFor(observed, own).map((action) => ({ ...action, trace }));
}

function actionsFor(observed: Observed, own: Own): Action[] {
  const { workspace, policy, nowMs } = observed;
  if (workspace.metadata.deletionTimestamp) return teardown(observed, own);
  const expired = expire(workspace, nowMs);
  if (expired.length > 0) return expired;
  const provider = providerFor(workspace, own, policy);
  const faults = [...lifetimeFaults(workspace), ...faultsOf(workspace.spec, provider)];
  if (faults.length > 0) return [...claim(workspace), ...invalid(workspace, faults, nowMs)];
  const plan = planOf(observed, own, provider);
  return [
    ...claim(workspace),
    ...plan.writes,
    ...report(workspace, plan, usedProvider(own, plan.stages, provider), nowMs),
    ...(plan.writes.some(isEntrance) ? [{ do: 'requeue', about: workspace } as const] : []),
    ...untilSettled(observed, plan.stages),
    ...annotationFaults(workspace),
  ];
}

/** Before anything is made, so that everything is deleted before the workspace is, and no image is made that does not count it. */
function claim(workspace: Workspace): Action[] {
  const { finalizers = [] } = workspace.metadata;
  const labels = imageLabelChanges(workspace);
  const isHeld = finalizers.includes(workspaceFinalizer);
  if (isHeld && Object.keys(labels).length === 0) return [];
  const metadata = { labels, ...(isHeld ? {} : { finalizers: [...finalizers, workspaceFinalizer] }) };
  return [{ do: 'patchMetadata', resource: Workspace, of: workspace, metadata }];
}

/** What the rest waits for, and no event reports: the workspace is looked at again in this reconcile. */
const isEntrance = (action: Action) =>
  action.do === 'create' &&
  [Namespace, RoleBinding, NetworkAttachmentDefinition].some(({ kind }) => kind === action.resource.kind);

/** Undefined while no network was made by it. */
const usedProvider = (own: Own, stages: readonly Stage[], provider: Provider) =>
  foundProvider(own) || stages.some(makesNetworks) ? provider : undefined;

const makesNetworks = ({ condition, writes }: Stage) => condition === 'NetworksReady' && writes.length > 0;

const valid = isSo('SpecValid', 'Valid', 'The spec fits together.');

/** The conditions that every reconcile writes, also of an invalid spec. */
const rewrittenTypes = ['SpecValid', 'Ready', 'Reconciling', 'Stalled', ...warningTypes];

/** Existing objects stay, and the other conditions keep what was found under the last valid spec. */
function invalid(workspace: Workspace, faults: readonly string[], nowMs: number): Action[] {
  const message = faults.join(' ');
  const before = (workspace.status?.conditions ?? []).filter(({ type }) => !rewrittenTypes.includes(type));
  const conditions = [
    isNotSo('SpecValid', 'SpecInvalid', message),
    ...before.map((one) => ({ ...one, type: one.type as WorkspaceCondition, reason: repeated(one.reason) })),
  ];
  return reported(workspace, { phase: 'Failed', reason: 'SpecInvalid', message, conditions, fields: {} }, nowMs);
}

function report(
  workspace: Workspace,
  { stages, wanted, isHibernating, schedule, lateness }: Plan,
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
  const conditions = [valid, ...stages.map(conditionOfStage), ...lateness];
  const report = isHibernating ? hibernating(workspace, stages) : summary(stages);
  const images = stages.find(({ condition }) => condition === 'VMDiskImagesReady');
  return reported(
    workspace,
    {
      ...(schedule && images && report.phase !== 'Failed' ? scheduled(schedule, { images, lateness }, nowMs) : report),
      conditions,
      fields,
    },
    nowMs,
    schedule && nextOfSchedule(schedule),
  );
}

/** With the times of the workspace, and what its users are warned of. */
function reported(
  workspace: Workspace,
  report: WorkspaceReport,
  nowMs: number,
  others: readonly number[] = [],
): Action[] {
  const times = lifetimeFields(workspace, nowMs, others);
  const conditions = [...report.conditions, ...warningConditions(workspace, nowMs)];
  return [
    ...updateStatus(workspace, { ...report, conditions, fields: { ...report.fields, ...times } }, nowMs),
    ...warn(workspace, conditions, nowMs),
    ...requeueInTime(workspace, times.nextAt, nowMs),
  ];
}
