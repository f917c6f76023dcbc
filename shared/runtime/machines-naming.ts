import type { Unreadable } from '../function.ts';
import { machinesOf } from '../images/references.ts';
import { VirtualMachine } from '../kinds/pelotech/virtual-machine.ts';
import type { ObjectReference } from '../kinds/resource.ts';
import type { Kube } from './kube.ts';
import { orUnreadable } from './unreadable.ts';

/** For more images than this one list of all machines costs less than a list for each: the API server walks them all either way. */
const mostLists = 20;

/**
 * The machines that name each of these images, in the order of the images: all, or those that `selector` selects. An image whose list
 * fails is unreadable.
 */
export async function machinesNaming(
  kube: Pick<Kube, 'list'>,
  images: readonly ObjectReference[],
  selector?: string,
): Promise<(VirtualMachine[] | Unreadable)[]> {
  const list = (...selectors: string[]) => {
    const fieldSelector = [...selectors, ...(selector ? [selector] : [])].join(',');
    return kube.list(VirtualMachine, fieldSelector ? { fieldSelector } : {});
  };
  if (images.length <= mostLists) return Promise.all(images.map((ref) => orUnreadable(ref, list(machinesOf(ref)))));
  const all = Map.groupBy(await list(), ({ spec }) => machinesOf(spec.vmDiskImageRef));
  return images.map((ref) => all.get(machinesOf(ref)) ?? []);
}
