import { type Action, together } from '../../shared/actions.ts';
import { newImage } from '../../shared/images/new-image.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/kinds/resource.ts';
import { refusalKey } from '../../shared/kubernetes/refusal.ts';
import { traceOfMachine } from '../../shared/traces.ts';
import type { Observed } from './observed.ts';
import { resolutionOf } from './resolution.ts';
import { reportResolution } from './status.ts';

/**
 * Creates the image for the machine that asked first, then reports on each machine the state of its image.
 * If two instances create it at the same time, the second one's create fails with AlreadyExists, and it observes again.
 */
export function decide(observed: Observed): Action[] {
  const machines = observed.machines.filter(({ metadata }) => !metadata.deletionTimestamp).sort(byAge);
  const asks = (machine: VirtualMachine) => resolutionOf(machine, observed) === undefined;
  if (machines.some((machine) => wasRefused(machine, observed))) {
    // What is refused to one namespace may be allowed for another; it is observed again which.
    const byNamespace = Map.groupBy(machines.filter(asks), ({ metadata }) => metadata.namespace);
    if (byNamespace.size > 1)
      return together([...byNamespace.values()].map(([first]) => (first ? createFor(first, observed) : [])));
  }
  const first = machines.find(asks);
  const template = first?.spec.vmDiskImageTemplate;
  return [
    ...(first ? createFor(first, observed) : []),
    ...together(
      machines.map((machine) => reportResolution(machine, resolutionOf(machine, observed, template), observed)),
    ),
    ...(machines.length > 0 ? awaitEnd(observed) : []),
  ];
}

const wasRefused = ({ metadata }: VirtualMachine, { refusals, ref }: Observed) =>
  refusals.has(refusalKey(VMDiskImage, ref, metadata.namespace));

function createFor(machine: VirtualMachine, { ref }: Observed): Action[] {
  const template = machine.spec.vmDiskImageTemplate;
  if (!template) return [];
  const object = newImage(ref, template, { madeBy: 'ensure-vmdi', askedBy: referenceOf(machine) });
  const askedBy = machine.metadata.namespace;
  return [{ do: 'create', resource: VMDiskImage, object, askedBy, trace: traceOfMachine(machine, undefined) }];
}

const soonMs = 5000;

/** Of an image without our finalizer no fact reports the end: start-sync has not seen it yet, or prune has finished with it. */
const awaitEnd = ({ image }: Observed): Action[] =>
  image && !image.metadata.finalizers?.includes(diskImageFinalizer)
    ? [{ do: 'requeueAfter', about: image, afterMs: soonMs }]
    : [];

const byAge = ({ metadata: a }: VirtualMachine, { metadata: b }: VirtualMachine) =>
  a.creationTimestamp.localeCompare(b.creationTimestamp) || a.uid.localeCompare(b.uid);
