import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { hasStatus } from '../../../shared/runtime/errors.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, anyOf } from './kinds.ts';
import { listOf } from './wait.ts';

/** The prefix of all our finalizers. */
const prefix = 'pelotech.ot/';

const isOurs = (name: string) => name.startsWith(prefix);

/** The kinds of these CustomResourceDefinitions, at the version in which objects are stored. */
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

/** Removes our finalizers from every object of our kinds, so that each can be deleted without functions. Returns the number of objects. */
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
      // 409: another client wrote in between, read again. 404: it is deleted already.
      if (hasStatus(error, 404)) return true;
      if (!hasStatus(error, 409)) throw error;
    }
  }
  return false;
}
