import { chunk } from '../chunk.ts';
import type { KubernetesObject, Resource } from '../kinds/resource.ts';
import { isIn } from '../kubernetes/selectors.ts';
import type { Kube } from './kube.ts';

/** The limit of uids in a URL. */
const valuesPerList = 100;

/** For more, one list of all that have the label costs less: the API server walks them all for each list. */
const mostLists = 5;

/** The objects whose label has one of these values, in as few lists as a URL takes; no order among them. */
export async function listLabelled<T extends KubernetesObject>(
  kube: Pick<Kube, 'list' | 'pages'>,
  resource: Resource<T>,
  label: string,
  values: readonly string[],
): Promise<T[]> {
  const rows = chunk(values, valuesPerList);
  if (rows.length <= mostLists) {
    const lists = rows.map((row) => kube.list(resource, { labelSelector: isIn(label, row) }));
    return (await Promise.all(lists)).flat();
  }
  const wanted = new Set(values);
  const found: T[] = [];
  for await (const { items } of kube.pages(resource, { labelSelector: label }))
    found.push(...items.filter(({ metadata }) => wanted.has(metadata.labels?.[label] ?? '')));
  return found;
}
