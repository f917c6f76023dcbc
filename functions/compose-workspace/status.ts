import type { Action, Facts } from '../../shared/actions.ts';
import {
  type Component,
  Workspace,
  type WorkspaceCondition,
  type WorkspacePhase,
  type WorkspaceStatus,
  wakeCommand,
} from '../../shared/kinds/pelotech/workspace.ts';
import type { Condition } from '../../shared/kinds/schema.ts';
import {
  factsOf,
  isNotSo,
  isSo,
  type NewCondition,
  type Reporting,
  reportStatus,
  type StatusReport,
} from '../../shared/kubernetes/status.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { lasted } from '../../shared/lasted.ts';
import { repeated } from '../../shared/reasons/reason.ts';
import { lifetimeOf } from '../../shared/workspaces/lifetime.ts';
import { warningFacts, warningTypes } from './lifetime.ts';
import { formatComponent, isWell, type Stage } from './stage.ts';

/** The state of a workspace, as one look at everything says. */
export interface WorkspaceReport
  extends Omit<StatusReport<WorkspacePhase, WorkspaceCondition>, 'isReady' | 'isSettled'> {
  fields: {
    [K in 'components' | 'ready' | 'namespace' | 'networkProvider' | 'images' | Times]?: WorkspaceStatus[K] | undefined;
  };
}

type Times = 'hibernatesAt' | 'expiresAt' | 'nextAt';

export function conditionOfStage({ condition, components, obstacle }: Stage): NewCondition<WorkspaceCondition> {
  if (condition === 'AnsibleSkipped') {
    const { reason = 'Skipped', message = '' } = components[0] ?? {};
    return isSo(condition, repeated(reason), message);
  }
  const cause = components.find(({ phase }) => phase === 'Failed') ?? components.find((one) => !isWell(one));
  if (cause) return isNotSo(condition, repeated(cause.reason), formatComponent(cause));
  if (obstacle) return isNotSo(condition, obstacle.reason, obstacle.message);
  return components.length > 0
    ? isSo(condition, 'Ready', `${formatCount(components)} ready.`)
    : isSo(condition, none, 'The workspace has none.');
}

/** Of a stage that a workspace has no components for. */
const none = 'None';

/** "5/7": what the policy leaves out is not counted. */
export const formatCount = (components: readonly Component[]) => {
  const counted = components.filter(({ phase }) => phase !== 'Skipped');
  return `${counted.filter(({ phase }) => phase === 'Ready').length}/${counted.length}`;
};

/** The status of all stages together: the first component that failed, else the first that is not Ready. */
export function summary(stages: readonly Stage[]): Pick<WorkspaceReport, 'phase' | 'reason' | 'message'> {
  const components = stages.flatMap((stage) => stage.components);
  const broken = components.find(({ phase }) => phase === 'Failed');
  if (broken) return { phase: 'Failed', reason: repeated(broken.reason), message: formatComponent(broken) };
  const obstacle = stages.map((stage) => stage.obstacle).find((one) => one !== undefined);
  const open = components.find((one) => !isWell(one));
  if (open) return { phase: 'Provisioning', reason: repeated(open.reason), message: formatComponent(open) };
  if (obstacle) return { phase: obstacle.isFinal ? 'Failed' : 'Provisioning', ...obstacle };
  return { phase: 'Ready', reason: 'Ready', message: `All components are ready (${formatCount(components)}).` };
}

/** The status of a workspace that hibernates: what runs has to stop, and nothing else is awaited. */
export function hibernating(
  workspace: Workspace,
  stages: readonly Stage[],
): Pick<WorkspaceReport, 'phase' | 'reason' | 'message'> {
  const components = stages.flatMap((stage) => stage.components);
  const broken = components.find(({ phase }) => phase === 'Failed');
  if (broken) return { phase: 'Failed', reason: repeated(broken.reason), message: formatComponent(broken) };
  const running = components.find(
    ({ kind, phase, reason }) =>
      (kind === 'VirtualMachine' || kind === 'ContainerCluster') &&
      (phase === 'Provisioning' || (phase === 'Ready' && reason !== 'Halted')),
  );
  if (running) {
    return { phase: 'Provisioning', reason: 'Hibernating', message: `It hibernates. ${formatComponent(running)}` };
  }
  const message = `Its machines and containers are stopped; disks stay. To wake it: ${wakeCommand(workspace.metadata.name)}`;
  return { phase: 'Hibernated', reason: 'Hibernated', message };
}

/** A workspace in one of these phases waits for a time or for a user. */
export const settledPhases: readonly string[] = ['Scheduled', 'Hibernated'] satisfies WorkspacePhase[];

/** Writes the state of a workspace if its status differs, and reports that it is Ready or Failed. */
export const updateStatus = (workspace: Workspace, report: WorkspaceReport, nowMs: number): Action[] =>
  reportStatus(
    reporting,
    workspace,
    { ...report, isReady: report.phase === 'Ready', isSettled: settledPhases.includes(report.phase) },
    nowMs,
  );

const reporting: Reporting<Workspace> = {
  resource: Workspace,
  published: 'workspace',
  /** Until each of its stages was through, and until all of it was. */
  measured: (workspace, conditions) =>
    conditions.filter(isStage).map(({ type, lastTransitionTime }) =>
      lasted({
        metric: 'ot.workspace.ready.duration',
        since: toTime(lifetimeOf(workspace).startsAtMs),
        nowMs: Date.parse(lastTransitionTime),
        attributes: { stage: type },
      }),
    ),
};

const facts = factsOf(reporting);
export const workspaceFacts: Facts<Workspace> = {
  ...facts,
  of: (workspace) => [...facts.of(workspace), ...warningFacts(workspace)],
};

/** A stage without components takes no time, and a skipped stage has none. */
const isStage = ({ type, reason }: Condition) => !notStages.includes(type) && reason !== none;
const notStages: readonly string[] = ['SpecValid', 'AnsibleSkipped', ...warningTypes];
