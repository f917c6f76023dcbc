import type { Namespace } from '../../shared/resources/core/namespace.ts';
import type { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/resources/resource.ts';
import type { Policy } from '../../shared/rules/policy.ts';

/** An image that machines name, and some of them. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  ref: ObjectReference;
  image: VMDiskImage | undefined;
  /** The namespace of an image that is missing; undefined where that is missing, too. */
  namespace: Namespace | undefined;
  machines: readonly VirtualMachine[];
  refusals: ReadonlyMap<string, string>;
}
