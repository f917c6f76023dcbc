import { type Action, requeueNamed } from '../../shared/actions.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import { traceOfMachine } from '../../shared/traces.ts';
import { describeNotEnlarged, describeRaised } from './disk/root-disk.ts';
import { describeRenamed } from './guest/logins.ts';
import type { Observed, Postponed } from './observed.ts';
import { ownChildren } from './obstacles.ts';
import { type Plan, planOf } from './plan.ts';
import { report } from './status.ts';

/**
 * Creates what a machine needs, then reports its status. Order: an outdated disk goes, or root disk → cloud-init Secret →
 * KubeVirt machine → status; the first of them only once the image is ready. A crash in between is taken up where it happened.
 */
export function decide(observed: Observed | Postponed): Action[] {
  if ('postponed' in observed) return observed.postponed.map((ref) => requeueNamed(VirtualMachine, ref));
  if (observed.machine.metadata.deletionTimestamp) return [];
  const { own, taken } = ownChildren(observed);
  const plan = planOf(own, taken);
  const trace = traceOfMachine(observed.machine, observed.image);
  return [...plan.writes, ...warnings(plan), ...report(plan)].map((action) => ({ ...action, trace }));
}

/** What a user has to know of the spec that is not applied as written: one Event, also if another field changes. */
function warnings({ own: { machine, dataVolume, kubeVirtMachine }, image, fault, disk }: Plan): Action[] {
  const isNew = machine.status?.observedGeneration !== machine.metadata.generation;
  const warn = (reason: Reason, message: string | undefined | false): Action[] =>
    message ? [recordEvent(machine, true, reason, message, message)] : [];
  return [
    ...warn('UserRenamed', isNew && describeRenamed(machine)),
    ...warn(
      'DiskSizeRaised',
      'image' in image && (disk || (isNew && dataVolume)) && describeRaised(machine, image.image),
    ),
    ...warn('DiskSizeNotApplied', isNew && dataVolume && describeNotEnlarged(machine, dataVolume)),
    ...(fault && kubeVirtMachine && isNew ? warn(fault.reason, fault.message) : []),
  ];
}
