import type { VirtualMachine } from '../resources/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../resources/pelotech/vm-disk-image.ts';
import type { Workspace } from '../resources/pelotech/workspace.ts';
import type { TraceOfWorkspace } from './actions.ts';
import { traceOf } from './image-status.ts';

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
