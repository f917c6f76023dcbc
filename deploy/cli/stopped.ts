import { grantKeys } from '../../shared/images/queue.ts';
import { holdersOf } from '../../shared/images/slots.ts';
import type { Lease } from '../../shared/kinds/coordination/lease.ts';
import { describeFault, type Policy } from '../../shared/policy.ts';

/** Why no download starts although slots are free, and the command that helps. */
export interface Stopped {
  why: string;
  command: string;
}

/** What the policy stops; undefined if downloads may start. */
export function stoppedByPolicy(policy: Policy): Stopped | undefined {
  const fault = policy.faults.find(({ key }) => grantKeys.some((name) => name === key));
  if (fault)
    return {
      why: `the policy does not parse: ${describeFault(fault)}`,
      command: `ot-functions policy set ${fault.key} VALUE`,
    };
  return policy.values.concurrency === 0
    ? { why: 'the queue is paused (concurrency 0)', command: 'ot-functions resume' }
    : undefined;
}

/** The same, and what an unreadable Lease stops; that only matters while images wait. */
export function stoppedBy(policy: Policy, lease: Lease | undefined, hasWaiting: boolean): Stopped | undefined {
  if (!hasWaiting || !lease || holdersOf(lease) !== undefined) return stoppedByPolicy(policy);
  const why = 'the Lease sync-slots does not parse; start-sync replaces it';
  return stoppedByPolicy(policy) ?? { why, command: 'ot-functions doctor' };
}

export const describeStopped = ({ why, command }: Stopped) => `Nothing starts: ${why}. What would help: ${command}`;
