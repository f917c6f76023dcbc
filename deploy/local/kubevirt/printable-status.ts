import type { Claim, DataVolume } from '../controller/kinds.ts';
import { hasCondition } from './conditions.ts';
import {
  claimNameOf,
  isFinal,
  type MachineStatus,
  phaseOf,
  type VirtualMachine,
  type VirtualMachineInstance,
} from './kinds.ts';
import { isRestarted, isSetToStart } from './run-strategy.ts';

export interface ObservedForPrinting {
  machine: VirtualMachine;
  instance: VirtualMachineInstance | undefined;
  /** Whether the instance is being made in this very reconcile. */
  starting: boolean;
  startFailure: MachineStatus['startFailure'];
  /** DataVolumes and claims of the namespace, by name. */
  dataVolume(name: string): DataVolume | undefined;
  claim(name: string): Claim | undefined;
  /** KubeVirt takes a DataVolume for failing. */
  seesDataVolumeError: boolean;
}

type Test = (observed: ObservedForPrinting) => boolean;

const conditionsOf = ({ instance }: ObservedForPrinting) => instance?.status?.conditions;
const isInPhase =
  (...phases: string[]): Test =>
  ({ instance }) =>
    instance !== undefined && phases.includes(phaseOf(instance));
const notSynchronized =
  (reason: string): Test =>
  (observed) =>
    hasCondition(conditionsOf(observed), 'Synchronized', 'False', reason);

const volumesOf = ({ machine }: ObservedForPrinting) => machine.spec.template.spec.volumes ?? [];

const dataVolumesOf = (observed: ObservedForPrinting) =>
  volumesOf(observed).flatMap((volume) =>
    volume.dataVolume ? (observed.dataVolume(volume.dataVolume.name) ?? []) : [],
  );

/** What KubeVirt calls an error of a DataVolume: phase Failed, or an error in Running; the second heals by itself. */
const hasDataVolumeError: Test = (observed) =>
  observed.seesDataVolumeError ||
  dataVolumesOf(observed).some(({ status }) => {
    const running = status?.conditions.find(({ type }) => type === 'Running');
    const stopped = running?.status === 'False' && ['Error', 'ImagePullFailed'].includes(running.reason ?? '');
    return status?.phase === 'Failed' || stopped;
  });

const isProvisioning: Test = (observed) =>
  dataVolumesOf(observed).some(({ status }) => {
    const phase = status?.phase ?? '';
    const isBound = status?.conditions.some(({ type, status: value }) => type === 'Bound' && value === 'True');
    if (phase === 'Succeeded' || phase === 'PendingPopulation') return false;
    return isBound || phase !== 'WaitForFirstConsumer';
  });

const hasUnboundClaim: Test = (observed) =>
  volumesOf(observed).some((volume) => {
    const claim = observed.claim(claimNameOf(volume) ?? '');
    return claim !== undefined && claim.status?.phase !== 'Bound';
  });

/** The first that holds is shown (KubeVirt pkg/virt-controller/watch/vm/vm.go, setPrintableStatus). */
const tests: readonly (readonly [string, Test])[] = [
  ['Terminating', ({ machine }) => machine.metadata.deletionTimestamp !== undefined],
  ['Stopping', ({ instance }) => instance?.metadata.deletionTimestamp !== undefined && !isFinal(instance)],
  ['Running', isInPhase('Running')],
  ['ErrorPvcNotFound', notSynchronized('FailedPvcNotFound')],
  ['DataVolumeError', hasDataVolumeError],
  ['ErrorUnschedulable', (observed) => hasCondition(conditionsOf(observed), 'PodScheduled', 'False', 'Unschedulable')],
  ['Provisioning', isProvisioning],
  [
    'WaitingForVolumeBinding',
    (observed) => isSetToStart(observed.machine, observed.instance) && hasUnboundClaim(observed),
  ],
  ['ErrImagePull', notSynchronized('ErrImagePull')],
  ['ImagePullBackOff', notSynchronized('ImagePullBackOff')],
  ['Starting', (observed) => observed.starting || isInPhase('', 'Pending', 'Scheduling', 'Scheduled')(observed)],
  [
    'CrashLoopBackOff',
    ({ machine, instance, startFailure }) =>
      (!instance || isFinal(instance)) && (startFailure?.consecutiveFailCount ?? 0) > 0 && isRestarted(machine),
  ],
  ['Stopped', ({ instance }) => !instance || isFinal(instance)],
];

export const printableStatus = (observed: ObservedForPrinting): string =>
  tests.find(([, holds]) => holds(observed))?.[0] ?? 'Unknown';
