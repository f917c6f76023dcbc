import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import { describeFault, type Policy, type PolicyKey } from '../policy.ts';
import type { Reason } from '../reasons/reason.ts';
import { budgetBackOn, budgetLeft, type Egress, formatBudget } from './egress.ts';
import { grantFault } from './queue.ts';

const stopReasons = ['InvalidPolicy', 'QueuePaused', 'BudgetSpent'] as const;

/** Whether a reason says why a queued image does not start now, although a slot may be free: no image does, or its source cannot be reached. */
export const keepsFromStarting = (reason: string | null | undefined) =>
  reason === 'SourceUnreachable' || stopReasons.some((stop) => stop === reason);

/** Why no image gets a slot, however many are free. */
export interface Stop {
  reason: (typeof stopReasons)[number];
  why: string;
  key: PolicyKey;
}

/** What stops the queue; undefined if downloads may start. */
export function stopOf(policy: Policy, egress: Egress, nowMs: number): Stop | undefined {
  const fault = grantFault(policy);
  if (fault)
    return { reason: 'InvalidPolicy', why: `the policy does not parse: ${describeFault(fault)}`, key: fault.key };
  const { concurrency, egressBudget: budget } = policy.values;
  if (concurrency === 0)
    return { reason: 'QueuePaused', why: 'the queue is paused (concurrency 0)', key: 'concurrency' };
  if (!budget || budgetLeft(policy, egress, nowMs) !== 0) return undefined;
  const why = `the egressBudget (${formatBudget(budget)}) is spent; something of it is left again on ${budgetBackOn(policy, egress, nowMs)} (UTC). Raise it, or let one image start with annotation pelotech.ot/ignore-budget=true`;
  return { reason: 'BudgetSpent', why, key: 'egressBudget' };
}

const waits: Readonly<Record<string, Reason>> = {
  Queued: 'ImageQueued',
  Syncing: 'ImageSyncing',
  Snapshotting: 'ImageSnapshotting',
  Retrying: 'ImageRetrying',
};

export const reasonOfWait = (phase: string): Reason => waits[phase] ?? 'ImageNotReady';

/**
 * What machines and workspaces that wait for the image repeat of its message: why it is tried again, why nothing starts, or why its
 * download does not. Plain progress is no trouble: to repeat it would be a write at each step.
 */
export function troubleOf(image: VMDiskImage): string | undefined {
  const { phase, message, conditions } = image.status ?? {};
  const reason = conditionOf(conditions, 'Ready')?.reason;
  const isStopped = phase === 'Queued' && keepsFromStarting(reason);
  return phase === 'Retrying' || isStopped || isBlocked(image) ? message : undefined;
}

/** The image says that its download or clone cannot go on. */
export const isBlocked = ({ status }: VMDiskImage) =>
  status?.phase === 'Syncing' && conditionOf(status.conditions, 'Ready')?.reason === 'SyncBlocked';
