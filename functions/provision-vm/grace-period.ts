import type { MachinePhase, VirtualMachineStatus } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { formatDuration } from '../../shared/kubernetes/duration.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import type { Policy } from '../../shared/policy.ts';
import { sentence } from '../../shared/sentence.ts';
import type { Obstacle } from './observed.ts';

/** After this many failed starts in a row the machine is Failed at once. */
const crashesToFail = 3;

interface Judged {
  phase: MachinePhase;
  message: string;
  trouble: VirtualMachineStatus['trouble'];
  /** The time until the machine is Failed. */
  leftMs?: number;
}

/** Phase and trouble of a machine with this in its way: trouble makes it Failed only where it lasts. */
export function judge(
  { reason, message, weight, late, limitMs: own }: Obstacle,
  {
    before,
    policy,
    nowMs,
    crashes,
  }: {
    before: VirtualMachineStatus['trouble'];
    policy: Policy;
    nowMs: number;
    /** Starts that failed in a row. */
    crashes: number;
  },
): Judged {
  if (weight === 'waits') return { phase: 'Provisioning', message, trouble: undefined };
  if (weight === 'final') return { phase: 'Failed', message, trouble: undefined };
  const { machineFailedAfter, machineUnschedulableAfter } = policy.values;
  const since = before && clockOf(before.reason) === clockOf(reason) ? before.since : toTime(nowMs);
  const least = weight === 'step' ? minimumStepMs : 0;
  const limitMs = own ?? Math.max(least, reason === patient ? machineUnschedulableAfter : machineFailedAfter);
  const leftMs = Date.parse(since) + limitMs - nowMs;
  const mayLast = weight === 'step' && late === undefined;
  const isOver = !mayLast && (leftMs <= 0 || (reason === 'CrashLoopBackOff' && crashes >= crashesToFail));
  const limit = formatDuration(limitMs);
  const lasting =
    weight === 'step' ? message : `${sentence(message)} Failed if that lasts ${limit}; it may recover by itself.`;
  const failed = late === undefined ? message : `${sentence(message)} That has lasted ${limit}. ${late}`;
  return {
    phase: isOver ? 'Failed' : 'Provisioning',
    message: isOver ? failed : lasting,
    trouble: { reason, since },
    ...(isOver || mayLast ? {} : { leftMs }),
  };
}

/** A node may have to be brought first, which takes minutes. */
const patient = 'Unschedulable';

/** The minimum time for a step, also if machineFailedAfter is shorter: every machine takes steps. */
const minimumStepMs = 60_000;

/** These reasons have a time of their own. All causes that prevent a start share one, from the beginning of the start. */
const clockOf = (reason: string) => (ownClocks.has(reason) ? reason : 'Starting');
const ownClocks = new Set([patient, 'Cloning', 'Stopping', 'MachineTerminating', 'GuestStarting', 'GuestNotAnswering']);
