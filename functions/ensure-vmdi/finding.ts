import { differencesOf, type Why, whyNotMade, whyNotNamed } from '../../shared/images/new-image.ts';
import { isHeldBy } from '../../shared/images/references.ts';
import { tellable } from '../../shared/images/status.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { formatRefusal, refusalKey } from '../../shared/kubernetes/refusal.ts';
import type { Observed } from './observed.ts';

/** What became of a machine's image: the machine may go on with it, or the reason why not. */
export interface Finding extends Why {
  status: 'True' | 'False';
  /** What the template of the machine says and the image does not. */
  differences: readonly string[];
}

type Spec = VMDiskImage['spec'];

/** What became of the image of this machine, where this pass makes it of `made`; undefined where it has to be made. */
export function findingOf(machine: VirtualMachine, observed: Observed, made?: Spec): Finding | undefined {
  const { image, ref } = observed;
  const why = mayNotName(machine, observed);
  if (why) return not(why);
  if (image?.metadata.deletionTimestamp) return terminating(machine, image, ref);
  const spec = image?.spec ?? made;
  if (spec) return found(machine, spec, `${say(ref)} is there.`);
  const reason = missing(machine, observed);
  return reason ? not(reason) : undefined;
}

const not = (why: Why): Finding => ({ ...why, status: 'False', differences: [] });

/** A machine that has its disk, or was allowed before a key of the policy broke, is not judged anew. */
function mayNotName({ metadata, status }: VirtualMachine, { policy, ref }: Observed): Why | undefined {
  if (status?.rootDisk) return undefined;
  const why = whyNotNamed(policy, metadata.namespace, ref);
  const wasResolved = conditionOf(status?.conditions, 'ImageResolved')?.status === 'True';
  return why?.reason === 'InvalidPolicy' && wasResolved ? undefined : why;
}

/** The image counts, whatever the template says; that they differ is said. */
function found({ spec }: VirtualMachine, image: Spec, sentence: string): Finding {
  const differences = spec.vmDiskImageTemplate ? differencesOf(spec.vmDiskImageTemplate, image) : [];
  const but =
    differences.length > 0
      ? ` It differs from vmDiskImageTemplate in ${differences.join(', ')}; the image counts.`
      : '';
  return { status: 'True', reason: 'ImageFound', message: tellable(sentence + but), differences };
}

function terminating(machine: VirtualMachine, image: VMDiskImage, ref: Observed['ref']): Finding {
  if (isHeldBy(image, machine))
    return found(machine, image.spec, `${say(ref)} is being deleted, and stays usable for this machine.`);
  const next = mayMake(machine) ? 'it is then made anew from vmDiskImageTemplate' : 'then for another of that name';
  return not({
    reason: 'ImageTerminating',
    message: `${say(ref)} is being deleted; waiting until it is gone, ${next}.`,
  });
}

const mayMake = ({ spec }: VirtualMachine) => spec.vmDiskImageTemplate !== undefined && spec.mode !== 'FailIfNotExist';

/** Why a missing image stays missing; undefined where it is to be made. */
function missing({ metadata, spec }: VirtualMachine, observed: Observed): Why | undefined {
  const { policy, ref, namespace, refusals } = observed;
  const { vmDiskImageTemplate: template, mode } = spec;
  if (mode === 'FailIfNotExist') {
    return {
      reason: 'ImageMissing',
      message: `Expected ${say(ref)} to be there (mode FailIfNotExist), found none; make it, or set mode CreateIfNotExist.`,
    };
  }
  if (!template) {
    return {
      reason: 'ImageMissing',
      message: `Expected ${say(ref)}, or a vmDiskImageTemplate to make it from, found neither; give the machine one of them.`,
    };
  }
  if (!namespace || namespace.metadata.deletionTimestamp) {
    return {
      reason: 'ImageNamespaceMissing',
      message: `Expected namespace ${ref.namespace} for VMDiskImage ${ref.name}, found ${namespace ? 'it being deleted' : 'none'}; make the namespace.`,
    };
  }
  // A disk, or a policy that let it once, gives a machine no right to make an image there now.
  const why = whyNotNamed(policy, metadata.namespace, ref) ?? whyNotMade(policy, template);
  if (why) return why;
  const refusal = refusals.get(refusalKey(VMDiskImage, ref));
  if (refusal === undefined) return undefined;
  return {
    reason: 'ImageRefused',
    message: tellable(`Expected the API server to take ${say(ref)}, found a refusal: ${formatRefusal(refusal)}.`),
  };
}

const say = ({ namespace, name }: Observed['ref']) => `VMDiskImage ${namespace}/${name}`;
