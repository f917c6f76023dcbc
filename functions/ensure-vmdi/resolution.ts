import {
  differencesOf,
  mayCreateImage,
  whyNoNamespace,
  whyNotMade,
  whyNotNamed,
  whyNotTrusted,
} from '../../shared/images/new-image.ts';
import { isHeldBy } from '../../shared/images/references.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { nameOf } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { formatRefusal, refusalKey } from '../../shared/kubernetes/refusal.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import type { Observed } from './observed.ts';

/** The state of a machine's image: usable, or the reason why not. */
export interface Resolution extends Cause {
  status: 'True' | 'False';
  /** The fields in which the machine's template differs from the image. */
  differences: readonly string[];
}

type Spec = VMDiskImage['spec'];

/** The state of this machine's image, given that this reconcile creates it from `made`; undefined if it must be created. */
export function resolutionOf(machine: VirtualMachine, observed: Observed, made?: Spec): Resolution | undefined {
  const { image, ref } = observed;
  const why = mayNotName(machine, observed) ?? mayNotUse(machine, observed);
  if (why) return not(why);
  if (image?.metadata.deletionTimestamp) return terminating(machine, image, ref);
  const spec = image?.spec ?? made;
  if (spec) return found(machine, spec, `${formatImage(ref)} exists.`);
  const reason = missing(machine, observed);
  return reason ? not(reason) : undefined;
}

const not = (why: Cause): Resolution => ({ ...why, status: 'False', differences: [] });

/** A machine that was allowed before a key of the policy became invalid is not checked again. */
function mayNotName({ metadata, status }: VirtualMachine, { policy, ref }: Observed): Cause | undefined {
  const why = whyNotNamed(policy, metadata.namespace, ref);
  const wasResolved = conditionOf(status?.conditions, 'ImageResolved')?.status === 'True';
  return why?.reason === 'InvalidPolicy' && wasResolved ? undefined : why;
}

/** A machine that has its disk does not ask for the image again. */
function mayNotUse({ metadata, spec, status }: VirtualMachine, { image, policy }: Observed): Cause | undefined {
  if (!image || status?.rootDisk) return undefined;
  return whyNotTrusted(policy, image, { namespace: metadata.namespace, template: spec.vmDiskImageTemplate });
}

/** An image of an admin or a publisher takes precedence over the template. Differences are reported. */
function found({ spec }: VirtualMachine, image: Spec, sentence: string): Resolution {
  const differences = spec.vmDiskImageTemplate ? differencesOf(spec.vmDiskImageTemplate, image) : [];
  const but =
    differences.length > 0
      ? ` It differs from vmDiskImageTemplate in ${differences.join(', ')}; the image counts.`
      : '';
  return { status: 'True', reason: 'ImageFound', message: sentence + but, differences };
}

function terminating(machine: VirtualMachine, image: VMDiskImage, ref: Observed['ref']): Resolution {
  if (isHeldBy(image, machine))
    return found(machine, image.spec, `${formatImage(ref)} is being deleted, and stays usable for this machine.`);
  const next = mayCreateImage(machine)
    ? 'then creates it again from vmDiskImageTemplate'
    : 'then for a new image of that name';
  return not({
    reason: 'ImageTerminating',
    message: `${formatImage(ref)} is being deleted; waiting until it is gone, ${next}.`,
  });
}

/** Why a missing image is not created; undefined if it is to be created. */
function missing({ metadata, spec }: VirtualMachine, observed: Observed): Cause | undefined {
  const { policy, ref, namespace, refusals } = observed;
  const { vmDiskImageTemplate: template, mode } = spec;
  if (mode === 'FailIfNotExist') {
    return {
      reason: 'ImageMissing',
      message: `${formatImage(ref)} does not exist, and mode is FailIfNotExist. Create it, or set mode CreateIfNotExist.`,
    };
  }
  if (!template) {
    return {
      reason: 'ImageMissing',
      message: `${formatImage(ref)} does not exist. Create it, or add a vmDiskImageTemplate to the machine.`,
    };
  }
  // A disk, or an earlier policy, gives a machine no right to create an image there now.
  const why =
    whyNoNamespace(ref, namespace) ??
    whyNotNamed(policy, metadata.namespace, ref) ??
    whyNotMade(policy, ref.namespace, template);
  if (why) return why;
  const refusal = refusals.get(refusalKey(VMDiskImage, ref, metadata.namespace));
  if (refusal === undefined) return undefined;
  return {
    reason: 'ImageRefused',
    message: `Expected the API server to take ${formatImage(ref)}, found a refusal: ${formatRefusal(refusal)}.`,
  };
}

const formatImage = (ref: Observed['ref']) => nameOf(VMDiskImage, ref);
