import type { Action } from '../../shared/actions.ts';
import { formatReference, referencesAmong } from '../../shared/images/references.ts';
import { traceOf } from '../../shared/images/status.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { isFinished, VMDiskImage, type VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { type Refusals, refusalKey } from '../../shared/kubernetes/refusal.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { traceOfMachine } from '../../shared/machines/trace.ts';
import type { Policy } from '../../shared/policy.ts';
import { formatWorkspace, isMadeForWorkspaces, waitingAmong } from '../../shared/workspaces/images.ts';

/** An image, or the name of one that is not there, and who names it. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  /** As it was before its machines were listed. */
  image: VMDiskImage | undefined;
  /** Whatever their state. */
  machines: readonly VirtualMachine[];
  /** Those that name an image of its name, whatever their state. */
  workspaces: readonly Workspace[];
  refusals: Refusals;
}

/** A pass writes to so many machines of an image at most. */
const machinesPerPass = 50;

/** So many are named in the status. */
const mostNamed = 20;

/**
 * Finalizers of machines that stay → count → finalizers of machines that go: who was counted cannot go unnoticed, and goes
 * only when it is counted no more.
 */
export function decide(observed: Observed): Action[] {
  const unmarked = observed.machines.filter((machine) => !isDeleting(machine) && !isMarked(machine));
  const isRefused = ({ metadata }: VirtualMachine) => observed.refusals.has(refusalKey(VirtualMachine, metadata));
  const going = observed.machines.filter((machine) => isDeleting(machine) && isMarked(machine));
  return [
    ...unmarked
      .filter((machine) => !isRefused(machine))
      .slice(0, machinesPerPass)
      .map((machine) => mark(machine, observed)),
    ...count(observed),
    ...going.slice(0, machinesPerPass).map((machine) => release(machine, observed)),
    ...(going.length > machinesPerPass ? [rest(going.length - machinesPerPass)] : []),
  ];
}

const isDeleting = ({ metadata }: VirtualMachine) => metadata.deletionTimestamp !== undefined;
const isMarked = ({ metadata }: VirtualMachine) => metadata.finalizers?.includes(imageReferenceFinalizer) ?? false;

/** By server-side apply: who else writes to a machine that has just come does not stand in the way. */
const mark = (machine: VirtualMachine, { image }: Observed): Action => {
  const { namespace, name, uid } = machine.metadata;
  const object = { metadata: { namespace, name, uid, finalizers: [imageReferenceFinalizer] } };
  return { do: 'apply', resource: VirtualMachine, object, trace: traceOfMachine(machine, image) };
};

/** By merge patch: it goes also where somebody else has put it there as well. */
const release = (machine: VirtualMachine, { image }: Observed): Action => ({
  do: 'patchMetadata',
  resource: VirtualMachine,
  of: machine,
  metadata: { finalizers: machine.metadata.finalizers?.filter((name) => name !== imageReferenceFinalizer) },
  trace: traceOfMachine(machine, image),
});

const rest = (count: number): Action => ({ do: 'redeliver', because: `${count} more machines wait to be let go` });

/**
 * The count, where another stands there. It is looked at once more when it is written: another instance may meanwhile have
 * seen a machine come or go and found the old count right, so that nobody would correct this one.
 */
function count({ image, machines, workspaces, policy, nowMs }: Observed): Action[] {
  // Until it has its place in the queue its resourceVersion tells who came first within a second: a write would raise that.
  if (!image?.status?.phase && !image?.metadata.deletionTimestamp) return [];
  const using = referencesAmong(machines, policy);
  const waiting = waitingAmong(workspaces, image.metadata, { machines: using, policy });
  const users = [...using.map(formatReference), ...waiting.map(formatWorkspace)];
  const references = { count: users.length, by: users.slice(0, mostNamed) };
  const { references: before, unreferencedSince: since, phase } = image.status ?? {};
  const isUnused = users.length === 0;
  // Its first count can wait where it says nothing: a crowd that is taken in is not written to once more each. Of one that
  // was made for a workspace it says that the workspace is gone, and nothing is to be downloaded.
  const mayWait = !isFinished(phase) && !image.metadata.deletionTimestamp && !isMadeForWorkspaces(image);
  if (isUnused && !before && mayWait) return [];
  if (isSame(before, references) && isUnused === (since !== undefined)) return [];
  // Since now, not since its creation: who switches pruning on deletes nothing at once.
  const unreferencedSince = isUnused ? (since ?? toTime(nowMs)) : null;
  const status = { references, unreferencedSince };
  return [
    { do: 'patchStatus', resource: VMDiskImage, of: image, status, trace: traceOf(image) },
    { do: 'requeue', about: image },
  ];
}

const isSame = (before: VMDiskImageStatus['references'], now: { count: number; by: readonly string[] }) =>
  before?.count === now.count && JSON.stringify(before.by ?? []) === JSON.stringify(now.by);
