import { formatReference, referencesAmong } from '../../shared/images/references.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../shared/policy.ts';
import { formatWorkspace, waitingAmong } from '../../shared/workspaces/images.ts';
import { isDeleting, isMarked } from './decide.ts';
import { isToCount } from './status.ts';

/** What an image says of its users: a crowd has more than it names, and names the first. */
function namedBy({ status }: VMDiskImage) {
  const { count = 0, by = [] } = status?.references ?? {};
  return { by, isCrowd: count > by.length };
}

/**
 * Whether nothing has to be counted again because of a machine: it keeps its finalizer, and its image counts it, or need not. In a crowd
 * the image does not name every user. There an update is taken to change nothing, since a machine is counted when it is added.
 */
export function isMachineSettled(machine: VirtualMachine, image: VMDiskImage | undefined, policy: Policy): boolean {
  if (isDeleting(machine) || !isMarked(machine)) return false;
  if (!image || !isToCount(image)) return true;
  const { by, isCrowd } = namedBy(image);
  const name = formatReference(machine);
  if (by.includes(name)) return isUser(machine, policy);
  return isUser(machine, policy) ? isCrowd && name > (by.at(-1) ?? '') : !isCrowd;
}

const isUser = (machine: VirtualMachine, policy: Policy) => referencesAmong([machine], policy).length > 0;

/** The same of a workspace, given the machines in its Namespace that name the image: they are counted in its place. */
export function isWorkspaceSettled(
  workspace: Workspace,
  image: VMDiskImage | undefined,
  { machines, policy }: { machines: readonly VirtualMachine[]; policy: Policy },
): boolean {
  if (!image || !isToCount(image)) return true;
  const users = referencesAmong(machines, policy);
  const waits = waitingAmong([workspace], image.metadata, { machines: users, policy }).length > 0;
  const { by, isCrowd } = namedBy(image);
  if (by.includes(formatWorkspace(workspace))) return waits;
  return isCrowd ? users.length > 0 : !waits;
}
