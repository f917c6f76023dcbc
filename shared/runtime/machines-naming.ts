import { VirtualMachine } from '../resources/pelotech/virtual-machine.ts';
import type { ObjectReference } from '../resources/resource.ts';
import { machinesOf } from '../rules/references.ts';
import type { Kube } from './kube.ts';

/** For more images than this one list of all machines costs less than a list for each: the API server walks them all either way. */
const mostLists = 20;

/** The machines that name each of these images, whatever their state, in the order of the images. */
export async function machinesNaming(
  kube: Pick<Kube, 'list'>,
  images: readonly ObjectReference[],
): Promise<VirtualMachine[][]> {
  if (images.length <= mostLists)
    return Promise.all(images.map((ref) => kube.list(VirtualMachine, { fieldSelector: machinesOf(ref) })));
  const all = Map.groupBy(await kube.list(VirtualMachine), ({ spec }) => machinesOf(spec.vmDiskImageRef));
  return images.map((ref) => all.get(machinesOf(ref)) ?? []);
}
