import { DataVolume } from '../controller/kinds.ts';
import { statusChange } from '../controller/status-patch.ts';
import type { Step } from '../controller/step.ts';
import { deletionOf, eventsFrom, patchOf, type Write, withFinalizer, withoutFinalizer } from '../controller/write.ts';
import { isFinal, VirtualMachine, VirtualMachineInstance, word } from './kinds.ts';
import { dataVolumeFor, instanceFor } from './machine-objects.ts';
import { isOutdated, nextMachineStatus, type ObservedForStatus } from './machine-status.ts';
import { runStrategyOf, wishOf } from './run-strategy.ts';

const eventOn = eventsFrom('virtualmachine-controller');

export interface ObservedMachine extends Omit<ObservedForStatus, 'starting' | 'restarting' | 'failure'> {
  /** Why the machine's ServiceAccount may not clone what a template names, by the template's name. */
  refusals: ReadonlyMap<string, string>;
  /** A preference or an instancetype that it names, was not started with before, and does not exist. */
  lost?: Result['failure'];
}

interface Result extends Step {
  failure?: ObservedForStatus['failure'];
  starting?: boolean;
  restarting?: boolean;
}

/**
 * One reconcile of a machine by KubeVirt's controller (KubeVirt pkg/virt-controller/watch/vm/vm.go, sync and updateStatus): what is
 * to be made or deleted, then the status.
 */
export function nextForMachine(observed: ObservedMachine): Step {
  const { machine, instance } = observed;
  const { writes, waitMs, failure, starting = false, restarting = false } = reconcile(observed);
  const next = nextMachineStatus({ ...observed, failure, starting, restarting });
  const released = instance && isFinal(instance) && instance.metadata.finalizers?.includes(word.machineFinalizer);
  return {
    writes: [
      ...writes,
      ...statusChange(VirtualMachine, machine, next),
      // Only now that all it said is recorded may it go.
      ...(released ? [withoutFinalizer(VirtualMachineInstance, instance, word.machineFinalizer)] : []),
    ],
    waitMs,
  };
}

/** The condition of a machine if the API server refused to create one of its objects. */
export function refusedMachine(observed: ObservedMachine, writes: readonly Write[], cause: string): Write[] {
  const { machine } = observed;
  const disk = writes.find((write) => write.do === 'create' && write.resource === DataVolume);
  const name = disk?.do === 'create' ? disk.object.metadata.name : '';
  const event = disk
    ? eventOn(machine, 'Warning', 'FailedDataVolumeCreate', `Error creating DataVolume ${name}: ${cause}`)
    : eventOn(machine, 'Warning', 'FailedCreate', `Error creating virtual machine instance: ${cause}`);
  const message = disk
    ? `Error encountered while creating DataVolumes: failed to create DataVolume: ${cause}`
    : `Failure while starting VMI: ${cause}`;
  const failure = { reason: 'FailedCreate', message } as const;
  const next = nextMachineStatus({ ...observed, failure, starting: false, restarting: false });
  return [event, ...statusChange(VirtualMachine, machine, next)];
}

function reconcile(observed: ObservedMachine): Result {
  const { machine, instance } = observed;
  const held = machine.metadata.finalizers?.includes(word.machineFinalizer) ?? false;
  if (machine.metadata.deletionTimestamp) {
    if (instance) return { writes: stop(machine, instance) };
    return { writes: held ? [withoutFinalizer(VirtualMachine, machine, word.machineFinalizer)] : [] };
  }
  if (!held) return { writes: [withFinalizer(VirtualMachine, machine, word.machineFinalizer)] };
  if (observed.lost) return { writes: [], failure: observed.lost };
  if (instance && isBehind(machine, instance)) return { writes: [generationOf(machine, instance)] };
  if (machine.metadata.annotations?.[word.immediateDataVolumeCreation] !== 'false') {
    const disks = disksOf(observed);
    const isHalted = runStrategyOf(machine) === 'Halted';
    if (disks.failure || disks.writes.length > 0 || !(disks.ready || isHalted)) return disks;
  }
  return run(observed);
}

function run(observed: ObservedMachine): Result {
  const { machine, instance, nowMs } = observed;
  const wish = wishOf(machine, instance);
  if (instance) {
    const isToStop = wish === 'stop' || wish === 'restart';
    return { writes: isToStop ? stop(machine, instance) : [], restarting: wish === 'restart' };
  }
  if (wish !== 'start') return { writes: [] };
  const waitMs = Date.parse(machine.status?.startFailure?.retryAfterTimestamp ?? '') - nowMs;
  if (waitMs > 0) return { writes: [], waitMs };
  const disks = disksOf(observed);
  if (disks.failure || !disks.ready) return disks;
  const message = `Started the virtual machine by creating the new virtual machine instance ${machine.metadata.name}`;
  return {
    writes: [
      { do: 'create', resource: VirtualMachineInstance, object: instanceFor(machine) },
      eventOn(machine, 'Normal', 'SuccessfulCreate', message),
    ],
    starting: true,
  };
}

/** Creates the missing DataVolume of a template, and waits for it; with a DataVolume that waits for a consumer a machine may start. */
function disksOf({ machine, dataVolume, refusals }: ObservedMachine): Result & { ready: boolean } {
  let ready = true;
  for (const template of machine.spec.dataVolumeTemplates ?? []) {
    const { name } = template.metadata;
    const found = dataVolume(name);
    const refusal = refusals.get(name);
    if (!found && refusal !== undefined) return unauthorized(machine, name, refusal);
    if (!found) {
      const object = dataVolumeFor(machine, template);
      const event = eventOn(machine, 'Normal', 'SuccessfulDataVolumeCreate', `Created DataVolume ${name}`);
      return { writes: [{ do: 'create', resource: DataVolume, object }, event], ready: false };
    }
    ready &&= ['Succeeded', 'WaitForFirstConsumer', 'PendingPopulation'].includes(found.status?.phase ?? '');
  }
  return { writes: [], ready };
}

function unauthorized(machine: VirtualMachine, name: string, refusal: string): Result & { ready: boolean } {
  const message = `Error encountered while creating DataVolumes: not authorized to create DataVolume: ${refusal}`;
  const isKnown = machine.status?.conditions?.some((one) => one.type === 'Failure' && one.message === message);
  const text = `Not authorized to create DataVolume ${name}: ${refusal}`;
  return {
    writes: isKnown ? [] : [eventOn(machine, 'Warning', 'UnauthorizedDataVolumeCreate', text)],
    failure: { reason: 'FailedCreate', message },
    ready: false,
  };
}

function stop(machine: VirtualMachine, instance: VirtualMachineInstance): Write[] {
  if (instance.metadata.deletionTimestamp) return [];
  const message = `Stopped the virtual machine by deleting the virtual machine instance ${instance.metadata.uid}`;
  return [deletionOf(VirtualMachineInstance, instance), eventOn(machine, 'Normal', 'SuccessfulDelete', message)];
}

/** Whether the machine has changed in something that its instance need not hear of. */
const isBehind = (machine: VirtualMachine, instance: VirtualMachineInstance) =>
  instance.metadata.annotations?.[word.generation] !== String(machine.metadata.generation) &&
  !instance.metadata.deletionTimestamp &&
  !isOutdated(machine, instance);

const generationOf = ({ metadata }: VirtualMachine, instance: VirtualMachineInstance): Write =>
  patchOf(VirtualMachineInstance, instance, {
    metadata: { annotations: { [word.generation]: String(metadata.generation) } },
  });
