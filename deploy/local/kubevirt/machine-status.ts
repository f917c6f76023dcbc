import { isDeepStrictEqual } from 'node:util';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { type Contents, without } from '../controller/conditions.ts';
import { replaced, withConditions } from './conditions.ts';
import { hasRun, type MachineStatus, type VirtualMachine, type VirtualMachineInstance, word } from './kinds.ts';
import { type ObservedForPrinting, printableStatus } from './printable-status.ts';
import { failedEarly, isRequestMet, isRestarted, runStrategyOf } from './run-strategy.ts';

export interface ObservedForStatus extends Omit<ObservedForPrinting, 'startFailure'> {
  /** What went wrong in this reconcile. */
  failure: { reason: string; message: string } | undefined;
  /** A start is to follow the stop of this reconcile. */
  restarting: boolean;
  backOffScale: number;
  nowMs: number;
}

/** The next status of a machine (KubeVirt pkg/virt-controller/watch/vm/vm.go, updateStatus). */
export function nextMachineStatus(observed: ObservedForStatus): MachineStatus {
  const { machine, instance, restarting } = observed;
  const before = machine.status ?? {};
  const { startFailure: _, stateChangeRequests = [], ...kept } = before;
  const requests = isRequestMet(machine, instance) ? stateChangeRequests.slice(1) : stateChangeRequests;
  const wanted = restarting ? [...requests, { action: 'Start' }] : requests;
  const startFailure = nextStartFailure(observed);
  const generation = Number(instance?.metadata.annotations?.[word.generation]);
  return {
    ...kept,
    created: instance !== undefined,
    ready: conditionOf(instance?.status?.conditions, 'Ready')?.status === 'True',
    // Mirrored once an instance exists, which shows that the machine was ever started.
    ...(instance || before.runStrategy ? { runStrategy: runStrategyOf(machine) } : {}),
    ...(wanted.length > 0 ? { stateChangeRequests: wanted } : {}),
    ...(startFailure ? { startFailure } : {}),
    ...(instance ? { desiredGeneration: machine.metadata.generation } : {}),
    ...(generation ? { observedGeneration: generation } : {}),
    conditions: nextConditions(observed),
    printableStatus: printableStatus({ ...observed, startFailure }),
  };
}

/** A run that ended before its guest started is counted once; a started guest clears the count. */
function nextStartFailure({ machine, instance, backOffScale, nowMs }: ObservedForStatus) {
  const before = machine.status?.startFailure ?? undefined;
  if ((instance && hasRun(instance)) || !isRestarted(machine)) return undefined;
  if (!instance || !failedEarly(instance) || before?.lastFailedVMIUID === instance.metadata.uid) return before;
  const consecutiveFailCount = (before?.consecutiveFailCount ?? 0) + 1;
  const delayMs = Math.min(300, 10 * consecutiveFailCount ** 2) * 1000 * backOffScale;
  return {
    consecutiveFailCount,
    lastFailedVMIUID: instance.metadata.uid,
    // With fractions of a second, which the real one has no need of.
    retryAfterTimestamp: new Date(nowMs + delayMs).toISOString(),
  };
}

const notCopied = ['Ready', 'Failure', 'RestartRequired'];

/** Ready and Failure of its own, the rest copied from the instance; what an instance reported stays when it is gone. */
function nextConditions({ machine, instance, failure, nowMs }: ObservedForStatus) {
  const next = [readiness(instance), ...(failure ? [{ type: 'Failure', status: 'True', ...failure }] : [])];
  const before = machine.status?.conditions ?? [];
  const kept = failure ? before : without(before, 'Failure');
  // KubeVirt removes the condition as soon as the restart begins.
  if (!instance) return withConditions(without(kept, 'RestartRequired'), next, nowMs);
  const copied = (instance.status?.conditions ?? []).filter(({ type }) => !notCopied.includes(type));
  const fresh = kept.filter(({ type }) => notCopied.includes(type) || copied.some((one) => one.type === type));
  const all = replaced(withConditions(fresh, next, nowMs), copied);
  const message = 'a non-live-updatable field was changed in the template spec';
  return isOutdated(machine, instance) && !instance.metadata.deletionTimestamp
    ? withConditions(all, [{ type: 'RestartRequired', status: 'True', message }], nowMs)
    : without(all, 'RestartRequired');
}

/** Whether an instance was made from another template. Every field counts: nothing is changed in a running guest here. */
export const isOutdated = (machine: VirtualMachine, instance: VirtualMachineInstance) =>
  !isDeepStrictEqual(machine.spec.template.spec, instance.spec) ||
  (['preference', 'instancetype'] as const).some(
    (field) => machine.spec[field]?.name !== instance.metadata.annotations?.[word[field]],
  );

function readiness(instance: VirtualMachineInstance | undefined): Contents {
  if (!instance) return { type: 'Ready', status: 'False', reason: 'VMINotExists', message: 'VMI does not exist' };
  const { status, reason, message } = conditionOf(instance.status?.conditions, 'Ready') ?? {
    status: 'False',
    reason: 'VMIConditionMissing',
    message: 'VMI is missing the Ready condition',
  };
  return { type: 'Ready', status, ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}
