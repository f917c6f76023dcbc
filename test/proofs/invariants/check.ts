import { b1Bounded } from './b1-bounded.ts';
import { b2Budget } from './b2-budget.ts';
import { differences, replayed, violationsAtEnd } from './differential.ts';
import { follow, type Invariant } from './follow.ts';
import type { History, Violation } from './history.ts';
import { l1Rest } from './l1-rest.ts';
import { l2WorkConserving } from './l2-work-conserving.ts';
import { l3Bound } from './l3-bound.ts';
import { l4Recovery } from './l4-recovery.ts';
import { l6Machines } from './l6-machines.ts';
import { s1Capacity } from './s1-capacity.ts';
import { s2SlotHeld } from './s2-slot-held.ts';
import { s3Identity } from './s3-identity.ts';
import { s4Fifo } from './s4-fifo.ts';
import { s5OneDataVolume } from './s5-one-data-volume.ts';
import { s6Attempts } from './s6-attempts.ts';
import { s7Backoff } from './s7-backoff.ts';
import { s8Evidence } from './s8-evidence.ts';
import { s9Phases } from './s9-phases.ts';
import { s10Finalizer } from './s10-finalizer.ts';
import { s11NoOrphan } from './s11-no-orphan.ts';
import { s12Prune } from './s12-prune.ts';
import { s13Counts } from './s13-counts.ts';
import { s14Ownership } from './s14-ownership.ts';
import { s15SlotLeak } from './s15-slot-leak.ts';
import { s17Content } from './s17-content.ts';
import { s18LastCopy } from './s18-last-copy.ts';
import { s19Tenancy } from './s19-tenancy.ts';
import { s20Inspected } from './s20-inspected.ts';
import { s21Refreshed } from './s21-refreshed.ts';

/** S16 and L5 compare two histories: `compare`. */
const s16ReplayIsFree: Invariant = { number: 'S16', rule: 'an event that is delivered again changes nothing' };
const l5Differential: Invariant = { number: 'L5', rule: 'faults leave no trace in the final state' };

/**
 * All invariants, by number. They judge a write by the state that its reconcile could read (reconcile.ts), and nothing that a user wrote.
 */
export const invariants: readonly Invariant[] = [
  s1Capacity,
  s2SlotHeld,
  s3Identity,
  s4Fifo,
  s5OneDataVolume,
  s6Attempts,
  s7Backoff,
  s8Evidence,
  s9Phases,
  s10Finalizer,
  s11NoOrphan,
  s12Prune,
  s13Counts,
  s14Ownership,
  s15SlotLeak,
  s16ReplayIsFree,
  s17Content,
  s18LastCopy,
  s19Tenancy,
  s20Inspected,
  s21Refreshed,
  l1Rest,
  l2WorkConserving,
  l3Bound,
  l4Recovery,
  l5Differential,
  l6Machines,
  b1Bounded,
  b2Budget,
];

/** What a history breaks, in the order of its changes. What holds at rest is judged only if the history came to rest. */
export const check = (history: History, which: readonly Invariant[] = invariants): Violation[] =>
  follow(history, which);

/**
 * What a history with faults breaks, compared with one of the same declarations without faults (L5); S16 if the only difference
 * is events delivered again.
 */
export const compare = (
  reference: History,
  history: History,
  { isReplay = false }: { isReplay?: boolean } = {},
): Violation[] =>
  isReplay
    ? violationsAtEnd(s16ReplayIsFree.number, history, replayed(reference, history))
    : violationsAtEnd(l5Differential.number, history, differences(reference, history));

/** One line. */
export const describeViolation = ({ invariant, revision, message }: Violation) =>
  `${invariant} at revision ${revision}: ${message}`;
