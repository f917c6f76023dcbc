import { type Action, requeueNamed, together } from '../../shared/actions.ts';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { hasFinalizer, removeFinalizer } from '../../shared/kubernetes/finalizer.ts';
import { refusalKey } from '../../shared/kubernetes/refusal.ts';
import { traceOfMachine } from '../../shared/traces.ts';
import type { Observed } from './observed.ts';
import { count } from './status.ts';

/** The limit of machines of one image that a reconcile writes to. */
const machinesPerReconcile = 50;

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
export const isMarked = (machine: VirtualMachine) => hasFinalizer(machine, imageReferenceFinalizer);

/** By server-side apply, which does not conflict with other writers of a new machine. */
const mark = (machine: VirtualMachine, { image }: Observed): Action => {
  const { namespace, name, uid } = machine.metadata;
  const object = { metadata: { namespace, name, uid, finalizers: [imageReferenceFinalizer] } };
  return { do: 'apply', resource: VirtualMachine, object, trace: traceOfMachine(machine, image) };
};

/** By merge patch, which removes it even if another manager also owns it. */
const release = (machine: VirtualMachine, { image }: Observed): Action => ({
  ...removeFinalizer(VirtualMachine, machine, imageReferenceFinalizer),
  trace: traceOfMachine(machine, image),
});

/** The others of a crowd. Should this process end before, each is marked when something happens to it, or by the audit. */
const markMore = ({ spec }: VirtualMachine): Action => requeueNamed(VMDiskImage, spec.vmDiskImageRef);

const rest = (count: number): Action => ({ do: 'redeliver', because: `${count} more machines wait to be released` });
