import type { TraceOfWorkspace } from '../../shared/actions.ts';
import { traceOf } from '../../shared/images/status.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';

/** The `trace` of every action done for a workspace, with the images and machines of it that are there by now. */
export const traceOfWorkspace = (
  { metadata, status }: Workspace,
  images: Iterable<VMDiskImage>,
  machines: readonly VirtualMachine[],
): TraceOfWorkspace => ({
  workspace: { uid: metadata.uid, ...(status?.phase ? { phase: status.phase } : {}) },
  images: [...images].map((image) => traceOf(image)),
  machines: machines.map((machine) => ({ uid: machine.metadata.uid })),
});
