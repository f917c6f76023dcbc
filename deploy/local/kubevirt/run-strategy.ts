import { hasRun, isFinal, phaseOf, type VirtualMachine, type VirtualMachineInstance } from './kinds.ts';

/** What a machine's strategy asks for now; `restart` is a stop that a start is to follow. */
type Wish = 'start' | 'stop' | 'restart' | 'nothing';

/** The strategy of a machine, also from the deprecated field `running`. */
export const runStrategyOf = ({ spec }: VirtualMachine) => spec.runStrategy ?? (spec.running ? 'Always' : 'Halted');

const firstRequest = ({ status }: VirtualMachine) => status?.stateChangeRequests?.[0];

const isAskedToStart = (machine: VirtualMachine) => firstRequest(machine)?.action === 'Start';

const isAskedToStop = (machine: VirtualMachine, { metadata }: VirtualMachineInstance) =>
  firstRequest(machine)?.action === 'Stop' && firstRequest(machine)?.uid === metadata.uid;

/** What is to become of a machine's instance (KubeVirt pkg/virt-controller/watch/vm/vm.go, syncRunStrategy). */
export function wishOf(machine: VirtualMachine, instance: VirtualMachineInstance | undefined): Wish {
  const strategy = runStrategyOf(machine);
  if (!instance) return startsNow(machine, strategy) ? 'start' : 'nothing';
  if (instance.metadata.deletionTimestamp) return 'nothing';
  switch (strategy) {
    case 'Always':
      return isFinal(instance) || isAskedToStop(machine, instance) ? 'stop' : 'nothing';
    case 'RerunOnFailure':
      if (phaseOf(instance) === 'Failed') return 'restart';
      return isFinal(instance) || isAskedToStop(machine, instance) ? 'stop' : 'nothing';
    case 'Manual':
      return isAskedToStop(machine, instance) ? 'stop' : 'nothing';
    case 'Halted':
      return 'stop';
    default:
      return 'nothing';
  }
}

function startsNow(machine: VirtualMachine, strategy: string): boolean {
  switch (strategy) {
    case 'Always':
    case 'Once':
      return true;
    case 'RerunOnFailure':
      return isAskedToStart(machine) || machine.status?.runStrategy !== strategy;
    case 'Manual':
      return isAskedToStart(machine);
    default:
      return false;
  }
}

/** Whether a machine is meant to run. */
export function isSetToStart(machine: VirtualMachine, instance: VirtualMachineInstance | undefined): boolean {
  const strategy = runStrategyOf(machine);
  if (!instance || strategy === 'Halted') return startsNow(machine, strategy);
  if (strategy === 'RerunOnFailure') return phaseOf(instance) !== 'Succeeded';
  return strategy === 'Always' || (strategy === 'Manual' && !isAskedToStop(machine, instance));
}

/** Whether starts that fail are counted, and follow one another with growing pauses. */
export const isRestarted = (machine: VirtualMachine) =>
  ['Always', 'RerunOnFailure', 'Once'].includes(runStrategyOf(machine));

/** Whether the first request has been met, so that the next one's turn has come. */
export function isRequestMet(machine: VirtualMachine, instance: VirtualMachineInstance | undefined): boolean {
  const request = firstRequest(machine);
  if (request?.action === 'Start') return instance !== undefined && !isFinal(instance);
  if (request?.action !== 'Stop') return false;
  return instance?.metadata.uid !== request.uid || instance?.metadata.deletionTimestamp !== undefined;
}

/** Whether a run ended before its guest was up. */
export const failedEarly = (instance: VirtualMachineInstance) => isFinal(instance) && !hasRun(instance);
