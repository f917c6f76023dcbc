import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { State, Step } from './follow.ts';
import type { Policy } from './plain-policy.ts';
import { usesByPolicy, waitsFor } from './plain-rules.ts';
import { policiesOf, unchangedSinceStart } from './reconcile.ts';

/** The machines that name the image, whatever their state. */
const naming = ({ machines }: State, { metadata }: VMDiskImage): VirtualMachine[] =>
  [...machines.values()].filter(
    ({ spec: { vmDiskImageRef: ref } }) => ref.name === metadata.name && ref.namespace === metadata.namespace,
  );

/** The machines that used the image when the reconcile began, by every policy that it may have read. */
export const usersFoundBy = (step: Step, image: VMDiskImage): VirtualMachine[] =>
  naming(step.state, image).filter(
    (machine) =>
      unchangedSinceStart(step, machine.metadata.uid) &&
      policiesOf(step).every((policy) => usesByPolicy(machine, policy)),
  );

/** The workspaces that waited for the image when the reconcile began, by every policy that it may have read. */
export function waitingFoundBy(step: Step, image: VMDiskImage): Workspace[] {
  const machines = naming(step.state, image);
  return [...step.state.workspaces.values()].filter(
    (workspace) =>
      unchangedSinceStart(step, workspace.metadata.uid) &&
      policiesOf(step).every((policy) => waitsFor(workspace, image, { machines, policy })),
  );
}

/** The number of machines that use the image plus workspaces that wait for it, now. */
export function countUsers(state: State, image: VMDiskImage, policy: Policy): number {
  const machines = naming(state, image).filter((machine) => usesByPolicy(machine, policy));
  const waiting = [...state.workspaces.values()].filter((one) => waitsFor(one, image, { machines, policy }));
  return machines.length + waiting.length;
}
