import type { VirtualMachine } from '../resources/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../resources/pelotech/vm-disk-image.ts';
import type { TraceOfMachine } from './actions.ts';
import { traceOf } from './image-status.ts';

/** The `trace` of every action done for a machine, with the image it is on where there is one by now. */
export const traceOfMachine = (
  { metadata, status }: VirtualMachine,
  image: VMDiskImage | undefined,
): TraceOfMachine => ({
  machine: { uid: metadata.uid, ...(status?.phase ? { phase: status.phase } : {}) },
  ...(image ? { image: traceOf(image) } : {}),
});
