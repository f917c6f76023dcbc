import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { isNotSo, isSo } from '../../shared/kubernetes/status.ts';
import type { Cause, Reason } from '../../shared/reasons/reason.ts';
import { imageCondition } from './disk/image-ready.ts';
import { describeCloning, describeNotEnlarged, isForFirstConsumer } from './disk/root-disk.ts';
import { restartCondition } from './kubevirt/restart.ts';
import type { KubeVirtState } from './kubevirt/state.ts';
import type { NewMachineCondition, Obstacle } from './observed.ts';
import { refusedChild } from './obstacles.ts';
import { type Plan, rootDiskIn } from './plan.ts';

/** The states of the children of a machine. */
export interface ChildStates {
  state: KubeVirtState | undefined;
  /** The fault of an existing disk. */
  cloning: Obstacle | undefined;
}

/** The conditions of a machine but Ready, which sums up. */
export function conditionsOf(plan: Plan, children: ChildStates): NewMachineCondition[] {
  const { own, secret } = plan;
  const fault = plan.fault ?? refusedChild(own);
  const restart = restartCondition({ ...own, secret }, { fault, state: children.state });
  const guest = guestCondition(own.machine, children.state);
  return [
    imageOrCloneCondition(plan),
    diskCondition(plan, children),
    ...machineConditions(children),
    ...(guest ? [guest] : []),
    ...(restart ? [restart] : []),
  ];
}

/** Once there is a disk the image matters no more; so a machine that runs is not written to when its image moves on. */
function imageOrCloneCondition(plan: Plan): NewMachineCondition {
  const made = rootDiskIn(plan);
  if (!made) return imageCondition(plan.image);
  return isSo('ImageReady', 'ImageReady', `The disk is a clone of revision ${made.revision}.`);
}

function diskCondition(
  { own: { machine, dataVolume }, blocker, disk, outdated }: Plan,
  { state, cloning }: ChildStates,
): NewMachineCondition {
  const notReady = (reason: Reason, message: string) => isNotSo('DiskReady', reason, message);
  // A claim that was deleted under a machine stays for as long as that runs (pvc-protection).
  if (state?.is === 'running' && (cloning || !dataVolume)) {
    const message = `The DataVolume of the disk was deleted while the machine runs. When it stops, it gets a new disk, without the data of this one.`;
    return notReady('DiskReplaced', message);
  }
  if (!outdated && state?.is === 'halted' && dataVolume && isForFirstConsumer(dataVolume)) {
    return notReady('WaitForFirstConsumer', 'The disk is cloned when the machine starts for the first time.');
  }
  // A normal start takes this state for seconds only, which needs no reason of its own.
  const isBlocked = state?.is === 'not there yet' && state.obstacle.weight === 'trouble';
  if (!outdated && isBlocked && dataVolume && isForFirstConsumer(dataVolume)) {
    return notReady('WaitForFirstConsumer', "The disk is cloned once the machine's Pod has a node.");
  }
  if (cloning) return notReady(cloning.reason, cloning.message);
  if (dataVolume) {
    const small = describeNotEnlarged(machine, dataVolume);
    return isSo('DiskReady', small ? 'DiskSizeNotApplied' : 'Cloned', small ?? 'The disk is cloned.');
  }
  if (disk) return notReady('Cloning', describeCloning(disk));
  return notReady(
    blocker?.reason ?? 'ImageNotReady',
    blocker?.message ?? 'The image to clone the disk from is not ready.',
  );
}

function machineConditions({ state }: ChildStates): NewMachineCondition[] {
  if (!state) return [];
  const cause = state.is === 'not there yet' ? state.obstacle : readiness(state);
  return [(state.is === 'running' ? isSo : isNotSo)('MachineReady', cause.reason, cause.message)];
}

function guestCondition({ spec }: VirtualMachine, state: KubeVirtState | undefined): NewMachineCondition | undefined {
  if (!spec.readiness || !state) return undefined;
  if (state.is === 'running') return state.guest?.condition;
  const { reason, message } = state.is === 'halted' ? readiness(state) : state.obstacle;
  return isNotSo('GuestReady', reason, message);
}

/** A KubeVirt machine that runs, or is stopped as it should be, in a word and a sentence. */
export const readiness = (state: KubeVirtState | undefined): Cause =>
  state?.is === 'halted'
    ? { reason: 'Halted', message: state.message }
    : { reason: 'Running', message: state?.is === 'running' ? state.message : '' };
