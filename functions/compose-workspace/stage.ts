import type { Action } from '../../shared/actions.ts';
import type {
  Component,
  ComponentKind,
  ComponentPhase,
  WorkspaceCondition,
} from '../../shared/kinds/pelotech/workspace.ts';
import { redactMessage } from '../../shared/kubernetes/events.ts';
import type { PolicyKey } from '../../shared/policy.ts';
import type { Cause, Reason } from '../../shared/reasons/reason.ts';
import type { Made } from './child.ts';

/** One stage of a workspace: what this reconcile writes for it, and the status of its components. */
export interface Stage {
  condition: WorkspaceCondition;
  writes: Action[];
  /** A write waits for those before it in its sequence; one of no sequence depends on no other. */
  sequenceOf?: (write: Action) => string | undefined;
  components: Component[];
  /** What blocks it besides its components. */
  obstacle?: (Cause & { isFinal: boolean }) | undefined;
}

/** A component of a stage: what this reconcile writes for it, and its status. */
export interface PlannedComponent {
  name: string;
  writes: Action[];
  status: ComponentStatus;
}

export interface ComponentStatus extends Cause {
  phase: ComponentPhase;
}

export const stageOf = (
  condition: WorkspaceCondition,
  kind: ComponentKind,
  planned: readonly PlannedComponent[],
): Stage => ({
  condition,
  writes: planned.flatMap(({ writes }) => writes),
  components: planned.map(({ name, status }) => component(kind, name, status)),
});

export const component = (
  kind: ComponentKind,
  name: string,
  { phase, reason, message }: ComponentStatus,
): Component => ({ kind, name, phase, reason, message: redactMessage(message).slice(0, 1024) });

export const ready = (reason: Reason, message: string): ComponentStatus => ({ phase: 'Ready', reason, message });
export const provisioning = (reason: Reason, message: string): ComponentStatus => ({
  phase: 'Provisioning',
  reason,
  message,
});
export const waiting = (reason: Reason, message: string): ComponentStatus => ({ phase: 'Waiting', reason, message });
/** Nothing that depends on a key of the policy begins while it does not parse. */
export const waitingForPolicy = (key: PolicyKey) =>
  waiting('InvalidPolicy', `Waiting until the policy's ${key} parses again.`);
export const failed = (reason: Reason, message: string): ComponentStatus => ({ phase: 'Failed', reason, message });
export const skipped = (message: string): ComponentStatus => ({ phase: 'Skipped', reason: 'Skipped', message });

/** The status of a component made of these objects; undefined if all of them exist and match the spec. */
export function statusOf(made: readonly Made[]): ComponentStatus | undefined {
  const obstacles = made.flatMap(({ obstacle }) => (obstacle ? [obstacle] : []));
  const worst = obstacles.find(({ isFinal }) => isFinal) ?? obstacles[0];
  if (worst) return worst.isFinal ? failed(worst.reason, worst.message) : provisioning(worst.reason, worst.message);
  return made.some(({ found }) => found === undefined) ? provisioning('Creating', 'It is being made.') : undefined;
}

/** Every component that has to exist does. */
export const isDone = ({ components, obstacle }: Stage) => obstacle === undefined && components.every(isWell);

/** A component and what it says. */
export const formatComponent = ({ kind, name, message }: Component) => `${kind} ${name}: ${message}`;

export const isWell = ({ phase }: Component) => phase === 'Ready' || phase === 'Skipped';
