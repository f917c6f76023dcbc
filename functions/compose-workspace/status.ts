import type { Action, Facts, Publish } from '../../shared/actions.ts';
import type { Condition } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import {
  type Component,
  Workspace,
  type WorkspaceCondition,
  type WorkspacePhase,
  type WorkspaceStatus,
} from '../../shared/kinds/pelotech/workspace.ts';
import { conditionOf, withCondition } from '../../shared/kubernetes/conditions.ts';
import { recordEvent, tellable } from '../../shared/kubernetes/events.ts';
import { digestOf } from '../../shared/kubernetes/names.ts';
import { changesOf } from '../../shared/kubernetes/status-changes.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { lasted } from '../../shared/lasted.ts';
import { isWell, type Stage } from './stage.ts';

/** The facts that others may wire their own Triggers to. */
export const workspaceFact = (fact: string) => `ot.pelotech.workspace.${fact}.v1`;

/** A condition as it should be; since when it is so is found out by comparing. */
export interface Finding {
  type: WorkspaceCondition;
  status: Condition['status'];
  reason: string;
  message: string;
}

/** How a workspace stands, as one look at everything says. */
export interface WorkspaceStanding {
  phase: WorkspacePhase;
  reason: string;
  message: string;
  findings: readonly Finding[];
  fields: Partial<Pick<WorkspaceStatus, 'components' | 'ready' | 'namespace' | 'networkProvider' | 'images'>>;
}

/** The condition of a stage. */
export function findingOf({ condition, components, obstacle }: Stage): Finding {
  if (condition === 'AnsibleSkipped') {
    const { reason = 'Skipped', message = '' } = components[0] ?? {};
    return { type: condition, status: 'True', reason, message };
  }
  const cause = components.find(({ phase }) => phase === 'Failed') ?? components.find((one) => !isWell(one));
  if (cause) return { type: condition, status: 'False', reason: cause.reason, message: formatComponent(cause) };
  if (obstacle) return { type: condition, status: 'False', reason: obstacle.reason, message: obstacle.message };
  return components.length > 0
    ? { type: condition, status: 'True', reason: 'Ready', message: `${formatCount(components)} ready.` }
    : { type: condition, status: 'True', reason: none, message: 'The workspace has none.' };
}

/** Of a stage that a workspace has no parts for. */
const none = 'None';

const formatComponent = ({ kind, name, message }: Component) => `${kind} ${name}: ${message}`;

/** "5/7": what the policy leaves out is not counted. */
export const formatCount = (components: readonly Component[]) => {
  const counted = components.filter(({ phase }) => phase !== 'Skipped');
  return `${counted.filter(({ phase }) => phase === 'Ready').length}/${counted.length}`;
};

/** Where all stages together stand: the first thing that failed, else the first that is not there yet. */
export function summary(stages: readonly Stage[]): Pick<WorkspaceStanding, 'phase' | 'reason' | 'message'> {
  const components = stages.flatMap((stage) => stage.components);
  const broken = components.find(({ phase }) => phase === 'Failed');
  if (broken) return { phase: 'Failed', reason: broken.reason, message: formatComponent(broken) };
  const obstacle = stages.map((stage) => stage.obstacle).find((one) => one !== undefined);
  const open = components.find((one) => !isWell(one));
  if (open) return { phase: 'Provisioning', reason: open.reason, message: formatComponent(open) };
  if (obstacle) return { phase: obstacle.isFinal ? 'Failed' : 'Provisioning', ...obstacle };
  return { phase: 'Ready', reason: 'Ready', message: `All components are ready (${formatCount(components)}).` };
}

/**
 * Writes how a workspace stands where that is not what its status says, and tells of it where the phase is another: a
 * Kubernetes Event, a domain event, and the time it took where it is Ready for the first time.
 */
export function stand(workspace: Workspace, standing: WorkspaceStanding, nowMs: number): Action[] {
  const { phase, reason, message: words, findings, fields } = standing;
  const before = workspace.status ?? {};
  const now = toTime(nowMs);
  const message = tellable(words);
  const observedGeneration = workspace.metadata.generation;
  const all: Finding[] = [
    ...findings,
    { type: 'Ready', status: phase === 'Ready' ? 'True' : 'False', reason, message },
  ];
  const kept = (before.conditions ?? []).filter(({ type }) => all.some((finding) => finding.type === type));
  const conditions = all.reduce<Condition[]>(
    (list, finding) => withCondition(list, { ...finding, message: tellable(finding.message), observedGeneration }, now),
    kept,
  );
  const readyAt = before.readyAt ?? (phase === 'Ready' ? now : undefined);
  const found = { ...before, conditions: [...(before.conditions ?? [])].sort((a, b) => a.type.localeCompare(b.type)) };
  const isNews = isSaidAnew(before, phase, reason);
  const lastPhaseTransitionTime = before.phase !== phase || isNews ? now : before.lastPhaseTransitionTime;
  const wanted = { ...fields, phase, message, conditions, observedGeneration, readyAt, lastPhaseTransitionTime };
  const changed = changesOf(found, wanted);
  if (Object.keys(changed).length === 0) return [];
  return [
    { do: 'patchStatus', resource: Workspace, of: workspace, status: changed },
    ...(isNews
      ? [
          recordEvent(workspace, phase === 'Failed', reason, message, `${observedGeneration}/${now}`),
          publish(workspace, { phase, reason, message, time: now }),
        ]
      : []),
    ...(phase === 'Ready' && before.readyAt === undefined ? measured(workspace, conditions) : []),
  ];
}

const isSaidAnew = ({ phase: before, conditions }: WorkspaceStatus, phase: WorkspacePhase, reason: string) =>
  phase !== 'Provisioning' &&
  (before !== phase || (phase === 'Failed' && conditionOf(conditions, 'Ready')?.reason !== reason));

interface Fact {
  phase: WorkspacePhase;
  reason: string;
  message: string;
  time: string;
}

/** Its id is made of what the status keeps. */
function publish(workspace: Workspace, { phase, reason, message, time }: Fact): Publish {
  const { uid, name, generation } = workspace.metadata;
  const fact = phase === 'Ready' ? 'ready' : 'failed';
  return {
    do: 'publish',
    type: workspaceFact(fact),
    id: digestOf([uid, fact, phase === 'Failed' ? reason : '', time]),
    subject: name,
    data: { name, uid, generation, time, phase, reason, message },
    about: workspace,
  };
}

/** The event of a workspace's present phase, rebuilt from its status. */
export const workspaceFacts: Facts<Workspace> = {
  resource: Workspace,
  of: (workspace) => {
    const { phase, message = '', conditions, lastPhaseTransitionTime: time } = workspace.status ?? {};
    if ((phase !== 'Ready' && phase !== 'Failed') || time === undefined) return [];
    return [publish(workspace, { phase, reason: conditionOf(conditions, 'Ready')?.reason ?? phase, message, time })];
  },
};

/** Once for a workspace: until each of its stages was through, and until all of it was. */
const measured = ({ metadata }: Workspace, conditions: readonly Condition[]): Action[] =>
  conditions.filter(isStage).map(({ type, lastTransitionTime }) =>
    lasted({
      metric: 'ot.workspace.ready.duration',
      since: metadata.creationTimestamp,
      nowMs: Date.parse(lastTransitionTime),
      attributes: { stage: type },
    }),
  );

/** A stage without parts takes no time, and of one that was left out there is none to tell. */
const isStage = ({ type, reason }: Condition) => type !== 'SpecValid' && type !== 'AnsibleSkipped' && reason !== none;
