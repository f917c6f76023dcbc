import type { Namespace } from '../../shared/kinds/core/namespace.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { Policy } from '../../shared/policy.ts';

/** An image that machines name, and some of them. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  ref: ObjectReference;
  image: VMDiskImage | undefined;
  /** The namespace of an image that is missing; undefined where that is missing, too. */
  namespace: Namespace | undefined;
  machines: readonly VirtualMachine[];
  refusals: Refusals;
}
