import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import type { ShownPhase } from '../terminal/phase-style.ts';
import { type ExitCode, exit } from './command.ts';
import { isOnOpenStack, type Target } from './target.ts';

/** The phase as users see it: an object that is being deleted is Terminating, whatever its phase was. */
export const phaseOf = ({ metadata, status }: Target): ShownPhase =>
  metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');

/** The states of an object, the most urgent first. */
export const states = ['Failed', 'under way', 'Ready'] as const;
export type State = (typeof states)[number];

/** Phases that are final unless the object changes. */
const last: ReadonlySet<ShownPhase> = new Set<ShownPhase>(['Ready', 'Succeeded', 'Skipped']);

/** The state that a phase means. */
export const stateOfPhase = (phase: ShownPhase): State =>
  phase === 'Failed' ? 'Failed' : last.has(phase) ? 'Ready' : 'under way';

/** On OpenStack the phase is what a server does, and the condition Ready whether that is what the spec asks for. */
export function stateOf(target: Target): State {
  const phase = phaseOf(target);
  if (!isOnOpenStack(target) || phase === 'Failed' || phase === 'Terminating') return stateOfPhase(phase);
  return conditionOf(target.status?.conditions, 'Ready')?.status === 'True' ? 'Ready' : 'under way';
}

export const isWell = (target: Target) => stateOf(target) === 'Ready';

/** What keeps an object that is to be deleted, in words; undefined if nothing does. */
export function heldBy({ status }: Pick<Target, 'status'>): string | undefined {
  const held = conditionOf(status?.conditions, 'DeletionHeld');
  return held?.status === 'True' ? held.message : undefined;
}

/** The current message of an object; undefined if it has none. */
export function messageOf({ metadata, status }: Target): string | undefined {
  if (!metadata.deletionTimestamp) return status?.message;
  // The message of a Ready object is outdated once it is being deleted.
  return heldBy({ status }) ?? (last.has(status?.phase ?? '') ? 'It is being deleted.' : status?.message);
}

/** The message of an object that is not Ready. */
export const causeOf = (target: Target): string => {
  if (isWell(target)) return '';
  return messageOf(target) ?? (phaseOf(target) === '' ? notReconciled : '');
};

/** The message for an object without a status. */
export const notReconciled = 'No function has reconciled it yet.';

/** The most urgent first: Failed, then under way, then Ready. */
export const byUrgency = (a: { state: State }, b: { state: State }) =>
  states.indexOf(a.state) - states.indexOf(b.state);

/** The exit code for these states. */
export function codeOf(found: readonly State[]): ExitCode {
  if (found.includes('Failed')) return exit.failed;
  return found.every((state) => state === 'Ready') ? exit.done : exit.underWay;
}
