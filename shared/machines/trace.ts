import type { TraceOfMachine } from '../actions.ts';
import { traceOf } from '../images/status.ts';
import type { VirtualMachine } from '../kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';

/** The `trace` of every action done for a machine, with the image it is on where there is one by now. */
export const traceOfMachine = (
  { metadata, status }: VirtualMachine,
  image: VMDiskImage | undefined,
): TraceOfMachine => ({
  machine: { uid: metadata.uid, ...(status?.phase ? { phase: status.phase } : {}) },
  ...(image ? { image: traceOf(image) } : {}),
});
