import type { Unreadable } from '../function.ts';
import { machinesOf } from '../images/references.ts';
import { VirtualMachine } from '../kinds/pelotech/virtual-machine.ts';
import type { ObjectReference } from '../kinds/resource.ts';
import type { Kube } from './kube.ts';
import { orUnreadable } from './unreadable.ts';

/** For more images than this one list of all machines costs less than a list for each: the API server walks them all either way. */
const mostLists = 20;

/**
 * The machines that name each of these images, in the order of the images: all, or those that `selector` selects, and of each page only
 * what `keep` makes of it. An image whose list fails is unreadable.
 */
export async function machinesNaming<T = VirtualMachine>(
  kube: Pick<Kube, 'pages'>,
  images: readonly ObjectReference[],
  selector?: string,
  keep: (page: readonly VirtualMachine[]) => Promise<readonly T[]> = async (page) => page as readonly T[],
): Promise<(T[] | Unreadable)[]> {
  const found = new Map(images.map((ref) => [machinesOf(ref), [] as T[]]));
  const list = async (...selectors: string[]) => {
    const fieldSelector = [...selectors, ...(selector ? [selector] : [])].join(',');
    for await (const { items } of kube.pages(VirtualMachine, fieldSelector ? { fieldSelector } : {})) {
      for (const [of, page] of Map.groupBy(items, ({ spec }) => machinesOf(spec.vmDiskImageRef)))
        found.get(of)?.push(...(await keep(page)));
    }
  };
  if (images.length > mostLists) await list();
  const listOf = async (ref: ObjectReference) => {
    if (images.length <= mostLists) await list(machinesOf(ref));
    return found.get(machinesOf(ref)) ?? [];
  };
  return Promise.all(images.map((ref) => orUnreadable(ref, listOf(ref))));
}
