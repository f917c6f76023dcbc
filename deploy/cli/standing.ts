import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import type { ShownPhase } from '../terminal/phase-style.ts';
import { type ExitCode, exit } from './command.ts';
import { isOnOpenStack, type Subject } from './subject.ts';

/** The phase as people see it: one that is being deleted is on its way out, whatever it was before. */
export const phaseOf = ({ metadata, status }: Subject): ShownPhase =>
  metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');

/** How far something is, in the order in which somebody has to do something about it. */
export const states = ['Failed', 'under way', 'Ready'] as const;
export type State = (typeof states)[number];

/** Phases after which nothing more is to come. */
const last: ReadonlySet<ShownPhase> = new Set<ShownPhase>(['Ready', 'Succeeded', 'Skipped']);

/** What a phase alone says. */
export const stateOfPhase = (phase: ShownPhase): State =>
  phase === 'Failed' ? 'Failed' : last.has(phase) ? 'Ready' : 'under way';

/** On OpenStack a phase says what a server does, and the condition whether that is what is wanted. */
export function stateOf(subject: Subject): State {
  const phase = phaseOf(subject);
  if (!isOnOpenStack(subject) || phase === 'Failed' || phase === 'Terminating') return stateOfPhase(phase);
  return conditionOf(subject.status?.conditions, 'Ready')?.status === 'True' ? 'Ready' : 'under way';
}

export const isWell = (subject: Subject) => stateOf(subject) === 'Ready';

/** What an object says of how it stands now; undefined where it says nothing. */
export function saysOf({ metadata, status }: Subject): string | undefined {
  if (!metadata.deletionTimestamp) return status?.message;
  const held = conditionOf(status?.conditions, 'DeletionHeld');
  if (held?.status === 'True') return held.message;
  // What was well says nothing more once it goes: its message is of before.
  return last.has(status?.phase ?? '') ? 'It is being deleted.' : status?.message;
}

/** What an object says of itself where it is not well. */
export const causeOf = (subject: Subject): string => {
  if (isWell(subject)) return '';
  return saysOf(subject) ?? (phaseOf(subject) === '' ? notSeen : '');
};

/** What is said of something that has no status yet. */
export const notSeen = 'No function has looked at it yet.';

/** Failed before under way before well: what somebody has to do comes first. */
export const byUrgency = (a: { state: State }, b: { state: State }) =>
  states.indexOf(a.state) - states.indexOf(b.state);

/** What scripts learn of these. */
export function codeOf(found: readonly State[]): ExitCode {
  if (found.includes('Failed')) return exit.failed;
  return found.every((state) => state === 'Ready') ? exit.done : exit.underWay;
}
