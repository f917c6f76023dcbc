import { type Action, requeueNamed, together } from '../../shared/actions.ts';
import { formatReference, referencesAmong } from '../../shared/images/references.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { isFinished, VMDiskImage, type VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { refusalKey } from '../../shared/kubernetes/refusal.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { traceOfMachine } from '../../shared/traces.ts';
import { formatWorkspace, isMadeForWorkspaces, waitingAmong } from '../../shared/workspaces/images.ts';
import type { Observed } from './observed.ts';

/** The limit of machines of one image that a reconcile writes to. */
const machinesPerReconcile = 50;

/** The limit of users that the status names. */
const mostNamed = 20;

/**
 * Adds finalizers, writes the count, removes finalizers: a counted machine cannot disappear unnoticed, and is released only after the
 * count excludes it.
 */
export function decide(observed: Observed): Action[] {
  const isRefused = ({ metadata }: VirtualMachine) => observed.refusals.has(refusalKey(VirtualMachine, metadata));
  const toMark = observed.machines.filter((one) => !isDeleting(one) && !isMarked(one) && !isRefused(one));
  const [next] = toMark.slice(machinesPerReconcile);
  const going = observed.machines.filter((machine) => isDeleting(machine) && isMarked(machine));
  return [
    ...together(toMark.slice(0, machinesPerReconcile).map((machine) => [mark(machine, observed)])),
    ...(next ? [markMore(next)] : []),
    ...count(observed),
    ...going.slice(0, machinesPerReconcile).map((machine) => release(machine, observed)),
    ...(going.length > machinesPerReconcile ? [rest(going.length - machinesPerReconcile)] : []),
  ];
}

export const isDeleting = ({ metadata }: VirtualMachine) => metadata.deletionTimestamp !== undefined;
export const isMarked = ({ metadata }: VirtualMachine) =>
  metadata.finalizers?.includes(imageReferenceFinalizer) ?? false;

/** By server-side apply, which does not conflict with other writers of a new machine. */
const mark = (machine: VirtualMachine, { image }: Observed): Action => {
  const { namespace, name, uid } = machine.metadata;
  const object = { metadata: { namespace, name, uid, finalizers: [imageReferenceFinalizer] } };
  return { do: 'apply', resource: VirtualMachine, object, trace: traceOfMachine(machine, image) };
};

/** By merge patch, which removes it even if another manager also owns it. */
const release = (machine: VirtualMachine, { image }: Observed): Action => ({
  do: 'patchMetadata',
  resource: VirtualMachine,
  of: machine,
  metadata: { finalizers: machine.metadata.finalizers?.filter((name) => name !== imageReferenceFinalizer) },
  trace: traceOfMachine(machine, image),
});

/** The others of a crowd. Should this process end before, each is marked when something happens to it, or by the audit. */
const markMore = ({ spec }: VirtualMachine): Action => requeueNamed(VMDiskImage, spec.vmDiskImageRef);

const rest = (count: number): Action => ({ do: 'redeliver', because: `${count} more machines wait to be released` });

/**
 * Writes the count if it differs, then counts again: another instance may have seen a newer machine in the meantime and found the old
 * count right, and would not correct this one. Where nothing was counted before, it would correct a zero.
 */
function count({ image, machines, workspaces, policy, nowMs }: Observed): Action[] {
  if (!image || !isToCount(image)) return [];
  const using = referencesAmong(machines, policy);
  const waiting = waitingAmong(workspaces, image.metadata, { machines: using, policy });
  const users = [...using.map(formatReference), ...waiting.map(formatWorkspace)];
  const references = { count: users.length, by: users.slice(0, mostNamed) };
  const { references: before, unreferencedSince: since, phase } = image.status ?? {};
  const isUnused = users.length === 0;
  // Skip the first zero count: it saves one write per new image. For an image that was made for a workspace it means that the workspace
  // is deleted and nothing must be downloaded.
  const mayWait = !isFinished(phase) && !image.metadata.deletionTimestamp && !isMadeForWorkspaces(image);
  if (isUnused && !before && mayWait) return [];
  if (isSame(before, references) && isUnused === (since !== undefined)) return [];
  // From now, not from its creation, so that switching pruning on deletes nothing at once.
  const unreferencedSince = isUnused ? (since ?? toTime(nowMs)) : null;
  const status = { references, unreferencedSince };
  return [
    { do: 'patchStatus', resource: VMDiskImage, of: image, status },
    ...(before || !isUnused ? [{ do: 'requeue', about: image } as const] : []),
  ];
}

/** Until an image has its place in the queue, its resourceVersion decides who came first within a second. A write would raise it. */
export const isToCount = ({ metadata, status }: VMDiskImage) =>
  Boolean(status?.phase) || metadata.deletionTimestamp !== undefined;

const isSame = (before: VMDiskImageStatus['references'], now: { count: number; by: readonly string[] }) =>
  before?.count === now.count && JSON.stringify(before.by ?? []) === JSON.stringify(now.by);
