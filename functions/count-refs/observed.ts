import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { Policy } from '../../shared/policy.ts';

/** An image, or the name of a missing one, and who names it. */
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
