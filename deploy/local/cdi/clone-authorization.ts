import type { Kube } from '../../../shared/runtime/kube.ts';
import type { User } from '../api-server/authentication.ts';
import { isAllowed } from '../controller/access-review.ts';

/** What either grants cloning from a namespace; CDI itself spells claims `pvcs` there, so only `*` contains that verb. */
const explicit = { verb: 'create', group: 'cdi.kubevirt.io', resource: 'datavolumes', subresource: 'source' };
const implicit = ['pods', 'pvcs'].map((resource) => ({ verb: 'create', resource }));

/**
 * Why a user may not clone from a snapshot in another namespace, in CDI's words; undefined when he may (CDI
 * staging/.../core/v1beta1/authorize_utils.go). KubeVirt asks the same of a machine's ServiceAccount.
 */
export async function refuseClone(kube: Kube, user: User, namespace: string): Promise<string | undefined> {
  const may = (attributes: object) =>
    isAllowed(kube, { user: user.name, groups: user.groups, resourceAttributes: { namespace, ...attributes } });
  if (await may(explicit)) return undefined;
  for (const attributes of implicit) {
    if (await may(attributes)) continue;
    return `User ${user.name} has insufficient permissions in clone source namespace ${namespace}`;
  }
  return undefined;
}
