import { egressIn } from '../../shared/images/egress.ts';
import { holdersOf } from '../../shared/images/slots.ts';
import { type Stop, stopOf } from '../../shared/images/stopped.ts';
import type { Lease } from '../../shared/kinds/coordination/lease.ts';
import type { Policy } from '../../shared/policy.ts';
import { remedyForReason } from './remedies.ts';

/** Why no download starts although slots are free, and the command that helps. */
export interface Stopped {
  why: string;
  command: string;
}

const commandFor = ({ reason, key }: Stop): string =>
  remedyForReason('VMDiskImage', reason, { KEY: key })?.commands.at(-1) ?? '';

/** What stops the queue, and what an unreadable Lease stops; that only matters while images wait. */
export function stoppedBy(
  policy: Policy,
  lease: Lease | undefined,
  { hasWaiting, nowMs }: { hasWaiting: boolean; nowMs: number },
): Stopped | undefined {
  const stop = stopOf(policy, egressIn(lease), nowMs);
  if (stop) return { why: stop.why, command: commandFor(stop) };
  if (!hasWaiting || !lease || holdersOf(lease) !== undefined) return undefined;
  const why = 'the Lease sync-slots does not parse; start-sync replaces it';
  return { why, command: 'ot-functions doctor' };
}

export const describeStopped = ({ why, command }: Stopped) => `Nothing starts: ${why}. What would help: ${command}`;
