import type { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/resources/pelotech/workspace.ts';
import type { Policy } from '../../shared/rules/policy.ts';
import { referencesAmong } from '../../shared/rules/references.ts';
import { waitingAmong } from '../../shared/rules/workspace-images.ts';
import type { State, Step } from './follow.ts';
import { policiesOf, wasSo } from './pass.ts';

/** The machines that name the image, whatever their state. */
export const naming = ({ machines }: State, { metadata }: VMDiskImage): VirtualMachine[] =>
  [...machines.values()].filter(
    ({ spec: { vmDiskImageRef: ref } }) => ref.name === metadata.name && ref.namespace === metadata.namespace,
  );

/** The machines that use the image by every policy that the deciding pass may have read, and were so when it began. */
export function usersFoundBy(step: Step, image: VMDiskImage): VirtualMachine[] {
  const found = naming(step.state, image).filter(({ metadata }) => wasSo(step, metadata.uid));
  return policiesOf(step).reduce<VirtualMachine[]>((users, policy) => referencesAmong(users, policy), found);
}

/** The workspaces that wait for the image by every policy that the deciding pass may have read, and did so when it began. */
export function waitingFoundBy(step: Step, image: VMDiskImage): Workspace[] {
  const machines = naming(step.state, image);
  const found = [...step.state.workspaces.values()].filter(({ metadata }) => wasSo(step, metadata.uid));
  return policiesOf(step).reduce<Workspace[]>(
    (waiting, policy) => waitingAmong(waiting, image.metadata, { machines, policy }),
    found,
  );
}

/** How many use the image now: machines, and workspaces that wait for it. */
export function countUsers(state: State, image: VMDiskImage, policy: Policy): number {
  const machines = referencesAmong(naming(state, image), policy);
  return machines.length + waitingAmong([...state.workspaces.values()], image.metadata, { machines, policy }).length;
}
