import type { Action, Facts, Publish } from '../actions.ts';
import {
  type MachineCondition,
  type MachinePhase,
  VirtualMachine,
  type VirtualMachineStatus,
} from '../kinds/pelotech/virtual-machine.ts';
import type { Condition, VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../kinds/resource.ts';
import { conditionOf, withCondition } from '../kubernetes/conditions.ts';
import { recordEvent, tellable } from '../kubernetes/events.ts';
import { digestOf } from '../kubernetes/names.ts';
import { changesOf } from '../kubernetes/status-changes.ts';
import { toTime } from '../kubernetes/time.ts';
import { lasted } from '../lasted.ts';
import { traceOfMachine } from '../traces.ts';

/** The facts that others may wire their own Triggers to. */
export const machineFact = (fact: string) => `ot.pelotech.virtual-machine.${fact}.v1`;

/** A condition as it should be; since when it is so is found out by comparing. */
export interface Finding {
  type: MachineCondition;
  status: Condition['status'];
  /** One word, the same in condition, Event and status. */
  reason: string;
  message: string;
}

/** How a machine stands, as one look at everything says. */
export interface MachineStanding {
  phase: MachinePhase;
  reason: string;
  message: string;
  /** All conditions but Ready, which sums up, and ImageResolved, which is another's. */
  findings: readonly Finding[];
  /** The other fields; undefined where there is nothing to say. */
  fields: Pick<
    { [K in keyof VirtualMachineStatus]: VirtualMachineStatus[K] | undefined },
    'rootDisk' | 'ipAddress' | 'addresses' | 'fixedAddresses' | 'nodeName' | 'trouble'
  >;
}

/**
 * Writes the state of a machine if its status differs. A new phase is also reported: with a Kubernetes Event, a domain event, and the
 * time it took if it is Ready for the first time.
 */
export function stand(
  machine: VirtualMachine,
  { phase, reason, message: words, findings, fields }: MachineStanding,
  { nowMs, image }: { nowMs: number; image?: VMDiskImage | undefined },
): Action[] {
  const before = machine.status ?? {};
  const now = toTime(nowMs);
  const message = tellable(words);
  const isReady = phase === 'Ready';
  const isNews = isSaidAnew(before, phase, reason);
  const observedGeneration = machine.metadata.generation;
  const ready: Finding = { type: 'Ready', status: isReady ? 'True' : 'False', reason, message };
  const conditions = [...findings, ready].reduce<Condition[]>(
    (list, finding) => withCondition(list, { ...finding, message: tellable(finding.message), observedGeneration }, now),
    keptConditions(before.conditions, findings),
  );
  const wanted = {
    ...fields,
    phase,
    message,
    conditions,
    observedGeneration,
    readyAt: before.readyAt ?? (isReady ? now : undefined),
    lastPhaseTransitionTime: before.phase !== phase || isNews ? now : before.lastPhaseTransitionTime,
  };
  // Server-side apply of another's condition may leave ours in another order, which says nothing.
  const found = { ...before, conditions: [...(before.conditions ?? [])].sort((a, b) => a.type.localeCompare(b.type)) };
  const changed = changesOf(found, wanted);
  if (Object.keys(changed).length === 0) return [];
  const trace = traceOfMachine(machine, image);
  const isFirst = isReady && before.readyAt === undefined;
  return [
    { do: 'patchStatus', resource: VirtualMachine, of: machine, status: changed, trace },
    ...(isNews
      ? [
          recordEvent(machine, phase === 'Failed', reason, message, `${observedGeneration}/${now}`),
          { ...publish(machine, { phase, reason, message, time: now }), trace },
        ]
      : []),
    ...(isFirst
      ? [lasted({ metric: 'ot.machine.ready.duration', since: machine.metadata.creationTimestamp, nowMs, trace })]
      : []),
  ];
}

/** Others' conditions as they are, and none of ours that nothing is to be said of any more. */
const keptConditions = (before: readonly Condition[] | undefined, findings: readonly Finding[]) => {
  const kept = new Set<string>(['ImageResolved', 'Ready', ...findings.map(({ type }) => type)]);
  return (before ?? []).filter(({ type }) => kept.has(type));
};

const isSaidAnew = ({ phase: before, conditions }: VirtualMachineStatus, phase: MachinePhase, reason: string) =>
  phase !== 'Provisioning' &&
  (before !== phase || (phase === 'Failed' && conditionOf(conditions, 'Ready')?.reason !== reason));

interface Fact {
  phase: MachinePhase;
  reason: string;
  message: string;
  time: string;
}

/** Its id is made of what the status keeps. */
function publish(machine: VirtualMachine, { phase, reason, message, time }: Fact): Publish {
  const { uid, namespace, name, generation } = machine.metadata;
  const fact = phase === 'Ready' ? 'ready' : 'failed';
  return {
    do: 'publish',
    type: machineFact(fact),
    id: digestOf([uid, fact, phase === 'Failed' ? reason : '', time]),
    subject: keyOf(machine.metadata),
    data: { namespace, name, uid, generation, time, phase, reason, message },
    trace: traceOfMachine(machine, undefined),
    about: machine,
  };
}

/** The event of a machine's present phase, rebuilt from its status. */
export const machineFacts: Facts<VirtualMachine> = {
  resource: VirtualMachine,
  of: (machine) => {
    const { phase, message = '', conditions, lastPhaseTransitionTime: time } = machine.status ?? {};
    if (phase === undefined || phase === 'Provisioning' || time === undefined) return [];
    return [publish(machine, { phase, reason: conditionOf(conditions, 'Ready')?.reason ?? phase, message, time })];
  },
};
