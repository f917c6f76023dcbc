import type { MachinePhase, VirtualMachineStatus } from '../../shared/resources/pelotech/virtual-machine.ts';
import { sayDuration } from '../../shared/rules/duration.ts';
import type { Policy } from '../../shared/rules/policy.ts';
import { sentence } from '../../shared/rules/sentence.ts';
import { toTime } from '../../shared/rules/time.ts';
import type { Obstacle } from './observed.ts';

/** From so many starts that failed in a row the machine is Failed at once. */
const crashesToFail = 3;

interface Judged {
  phase: MachinePhase;
  message: string;
  trouble: VirtualMachineStatus['trouble'];
}

/** Phase and trouble of a machine with this in its way: trouble makes it Failed only where it lasts. */
export function judge(
  { reason, message, weight }: Obstacle,
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
  const isPatient = reason === patient;
  const since = before && (before.reason === patient) === isPatient ? before.since : toTime(nowMs);
  const limitMs = isPatient ? machineUnschedulableAfter : machineFailedAfter;
  const isOver = nowMs - Date.parse(since) >= limitMs || (reason === 'CrashLoopBackOff' && crashes >= crashesToFail);
  return {
    phase: isOver ? 'Failed' : 'Provisioning',
    message: isOver ? message : `${sentence(message)} Failed if that lasts ${sayDuration(limitMs)}; it may well heal.`,
    trouble: { reason, since },
  };
}

/** A node may have to be brought first, which takes minutes. */
const patient = 'Unschedulable';
