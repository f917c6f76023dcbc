import { chunk } from '../chunk.ts';
import type { KubernetesObject, Resource } from '../kinds/resource.ts';
import { isIn } from '../kubernetes/selectors.ts';
import type { Kube } from './kube.ts';

/** The limit of uids in a URL. */
const valuesPerList = 100;

/** The objects whose label has one of these values, in as few lists as a URL takes; no order among them. */
export async function listLabelled<T extends KubernetesObject>(
  kube: Pick<Kube, 'list'>,
  resource: Resource<T>,
  label: string,
  values: readonly string[],
): Promise<T[]> {
  const lists = chunk(values, valuesPerList).map((row) => kube.list(resource, { labelSelector: isIn(label, row) }));
  const found = await Promise.all(lists);
  return found.flat();
}
