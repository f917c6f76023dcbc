import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, anyOf } from './kinds.ts';
import { listOf } from './wait.ts';

/** All our finalizers begin so. */
const prefix = 'pelotech.ot/';

const isOurs = (name: string) => name.startsWith(prefix);

/** The kinds that these CustomResourceDefinitions define, at the version objects are stored in. */
export const kindsDefinedBy = (definitions: readonly AnyObject[]) =>
  definitions.map(({ spec }) => {
    const { group, names, scope, versions } = spec as {
      group: string;
      scope: string;
      names: { kind: string; plural: string };
      versions: { name: string; storage: boolean }[];
    };
    const version = versions.find(({ storage }) => storage)?.name ?? '';
    return anyOf(`${group}/${version}`, names.kind, { plural: names.plural, namespaced: scope === 'Namespaced' });
  });

/** Takes our finalizers off every object of our kinds, so that each can be deleted with no function there. Returns how many. */
export async function removeFinalizers({ kube }: Cluster, definitions: readonly KubernetesObject[]): Promise<number> {
  let count = 0;
  for (const resource of kindsDefinedBy(definitions)) {
    for (const object of await listOf(kube, resource)) count += Number(await free(kube, resource, object));
  }
  return count;
}

async function free(kube: Cluster['kube'], resource: Resource<AnyObject>, object: AnyObject): Promise<boolean> {
  for (let found: AnyObject | undefined = object; found; found = await kube.get(resource, object.metadata)) {
    const { uid, resourceVersion, finalizers = [] } = found.metadata;
    if (!finalizers.some(isOurs)) return false;
    const metadata = { uid, resourceVersion, finalizers: finalizers.filter((name) => !isOurs(name)) };
    try {
      await kube.patch(resource, object.metadata, { metadata });
      return true;
    } catch (error) {
      // 409: somebody wrote in between, look again. 404: it is gone, which is as well.
      if (hasStatus(error, 404)) return true;
      if (!hasStatus(error, 409)) throw error;
    }
  }
  return false;
}
