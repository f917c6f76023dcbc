import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { lastPhases, messageOf, phaseOf } from '../../shared/kubernetes/shown.ts';
import type { ShownPhase } from '../terminal/phase-style.ts';
import { type ExitCode, exit } from './command.ts';
import { isOnOpenStack, type Target } from './target.ts';

/** The states of an object, the most urgent first. */
export const states = ['Failed', 'under way', 'Hibernated', 'Ready'] as const;
export type State = (typeof states)[number];

export const stateOfPhase = (phase: ShownPhase): State =>
  lastPhases.has(phase) ? 'Ready' : (states.find((state) => state === phase) ?? 'under way');

/** On OpenStack the phase is what a server does, and the condition Ready whether that is what the spec asks for. */
export function stateOf(target: Target): State {
  const phase = phaseOf(target);
  if (!isOnOpenStack(target) || phase === 'Failed' || phase === 'Terminating') return stateOfPhase(phase);
  return conditionOf(target.status?.conditions, 'Ready')?.status === 'True' ? 'Ready' : 'under way';
}

/** Nothing is wrong with this state, and nothing is under way. */
export const isAtRest = (state: State) => state === 'Ready' || state === 'Hibernated';

export const isWell = (target: Target) => isAtRest(stateOf(target));

/** The message of an object that is not Ready. */
export const causeOf = (target: Target): string => {
  if (stateOf(target) === 'Ready') return '';
  return messageOf(target) ?? (phaseOf(target) === '' ? notReconciled : '');
};

/** The message for an object without a status. */
export const notReconciled = 'No function has reconciled it yet.';

/** The most urgent first. */
export const byUrgency = (a: { state: State }, b: { state: State }) =>
  states.indexOf(a.state) - states.indexOf(b.state);

export function codeOf(found: readonly State[]): ExitCode {
  if (found.includes('Failed')) return exit.failed;
  return found.every(isAtRest) ? exit.done : exit.underWay;
}
