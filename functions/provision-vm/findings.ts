import type { Finding } from '../../shared/machines/status.ts';
import { imageFinding } from './image-ready.ts';
import type { Obstacle } from './observed.ts';
import { refusedChild } from './obstacles.ts';
import { type Plan, rootDiskIn } from './plan.ts';
import { restartFinding } from './restart.ts';
import { describeCloning, describeNotEnlarged, isForFirstConsumer } from './root-disk.ts';
import type { KubeVirtState } from './state.ts';

/** How the children of a machine stand. */
export interface Seen {
  state: KubeVirtState | undefined;
  /** The fault of an existing disk. */
  cloning: Obstacle | undefined;
}

/** The conditions of a machine but Ready, which sums up. */
export function findingsOf(plan: Plan, seen: Seen): Finding[] {
  const { own, secret } = plan;
  const fault = plan.fault ?? refusedChild(own);
  const restart = restartFinding({ ...own, secret }, { fault, state: seen.state });
  return [imageSaid(plan), diskFinding(plan, seen), ...machineFinding(seen), ...(restart ? [restart] : [])];
}

/** Once there is a disk the image matters no more; so a machine that runs is not written to when its image moves on. */
function imageSaid(plan: Plan): Finding {
  const made = rootDiskIn(plan);
  if (!made) return imageFinding(plan.image);
  return {
    type: 'ImageReady',
    status: 'True',
    reason: 'ImageReady',
    message: `The disk is a clone of revision ${made.revision}.`,
  };
}

function diskFinding(
  { own: { machine, dataVolume }, blocker, disk, outdated }: Plan,
  { state, cloning }: Seen,
): Finding {
  const finding = (status: Finding['status'], reason: string, message: string): Finding => ({
    type: 'DiskReady',
    status,
    reason,
    message,
  });
  // A claim that was deleted under a machine stays for as long as that runs (pvc-protection).
  if (state?.is === 'running' && (cloning || !dataVolume)) {
    const message = `The DataVolume of the disk was deleted under the machine, which runs on; when it stops it gets a new disk, without what is on this one.`;
    return finding('False', 'DiskReplaced', message);
  }
  if (!outdated && state?.is === 'halted' && dataVolume && isForFirstConsumer(dataVolume)) {
    return finding('False', 'WaitForFirstConsumer', 'The disk is cloned when the machine starts for the first time.');
  }
  // A normal start takes this state for seconds only, which needs no reason of its own.
  const isBlocked = state?.is === 'not there yet' && state.obstacle.weight === 'trouble';
  if (!outdated && isBlocked && dataVolume && isForFirstConsumer(dataVolume)) {
    return finding('False', 'WaitForFirstConsumer', "The disk is cloned once the machine's Pod has a node.");
  }
  if (cloning) return finding('False', cloning.reason, cloning.message);
  if (dataVolume) {
    const small = describeNotEnlarged(machine, dataVolume);
    return finding('True', small ? 'DiskSizeNotApplied' : 'Cloned', small ?? 'The disk is cloned.');
  }
  if (disk) return finding('False', 'Cloning', describeCloning(disk));
  return finding(
    'False',
    blocker?.reason ?? 'ImageNotReady',
    blocker?.message ?? 'The image to clone the disk from is not ready.',
  );
}

function machineFinding({ state }: Seen): Finding[] {
  if (!state) return [];
  const said = state.is === 'not there yet' ? state.obstacle : readiness(state);
  const status = state.is === 'running' ? ('True' as const) : ('False' as const);
  return [{ type: 'MachineReady', status, reason: said.reason, message: said.message }];
}

/** A KubeVirt machine that runs, or is stopped as it should be, in a word and a sentence. */
export const readiness = (state: KubeVirtState | undefined) =>
  state?.is === 'halted'
    ? { reason: 'Halted', message: state.message }
    : { reason: 'Running', message: state?.is === 'running' ? state.message : '' };
