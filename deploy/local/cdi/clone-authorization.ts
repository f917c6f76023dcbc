import * as z from 'zod';
import { type KubernetesObject, ObjectMeta, type Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { admin, serviceAccountUser, type User } from '../api-server/authentication.ts';

const Review = z.looseObject({ status: z.looseObject({ allowed: z.boolean().default(false) }) });

/** A question that is answered and not kept, and so has no name. */
const SubjectAccessReview: Resource<KubernetesObject & z.infer<typeof Review>> = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
  parse: (value) => ({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: ObjectMeta.parse({ name: '' }),
    ...Review.parse(value),
  }),
};

/** What either grants cloning from a namespace; CDI itself spells claims `pvcs` there, so only `*` contains that verb. */
const explicit = { verb: 'create', group: 'cdi.kubevirt.io', resource: 'datavolumes', subresource: 'source' };
const implicit = ['pods', 'pvcs'].map((resource) => ({ verb: 'create', resource }));

/**
 * Why a user may not clone from a snapshot in another namespace, in CDI's words; undefined when he may (CDI
 * staging/.../core/v1beta1/authorize_utils.go). KubeVirt asks the same of a machine's ServiceAccount.
 */
export async function refuseClone(kube: Kube, user: User, namespace: string): Promise<string | undefined> {
  const may = async (attributes: object) => {
    const spec = { user: user.name, groups: user.groups, resourceAttributes: { namespace, ...attributes } };
    const { status } = await kube.create(SubjectAccessReview, { metadata: {}, spec });
    return status.allowed;
  };
  if (await may(explicit)) return undefined;
  for (const attributes of implicit) {
    if (await may(attributes)) continue;
    return `User ${user.name} has insufficient permissions in clone source namespace ${namespace}`;
  }
  return undefined;
}

/** A user with the groups that his name tells: what an admission hook hears of him is the name. */
export function userOf(name: string): User {
  if (name === admin.name) return admin;
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  if (namespace && account) return serviceAccountUser({ namespace, name: account });
  return { name, groups: ['system:authenticated'] };
}
