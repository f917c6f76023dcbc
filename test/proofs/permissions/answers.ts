import { SubjectAccessReview } from '../../../deploy/local/controller/access-review.ts';
import type { LocalCluster } from '../../../deploy/local/start.ts';
import { ClusterRole } from '../../../shared/kinds/rbac/cluster-role.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { inImagesRole, inWorkspaceRole, operatorNamespace } from '../../../shared/operator.ts';
import { inWords, rulesFor } from './granted.ts';

const prefix = `system:serviceaccount:${operatorNamespace}:`;

/** What accounts of the operator asked for, and how it was answered. */
const answersOf = ({ server }: LocalCluster) =>
  [...server.answers().keys()]
    .filter((key) => key.startsWith(prefix))
    .map((key) => {
      const [account = '', verb = '', what = '', status] = key.slice(prefix.length).split(' ');
      return { account, verb, what, status };
    });

/** What accounts of the operator asked for and got. */
export const askedFor = (cluster: LocalCluster): string[] =>
  answersOf(cluster)
    .filter(({ status }) => status !== '403')
    .flatMap(({ account, verb, what, status }) => [
      `${account} ${verb} ${what}`,
      // An apply that makes its object needs both.
      ...(verb === 'patch' && status === '201' ? [`${account} create ${what}`] : []),
      // Before a source watches Knative asks whether it may get, list and watch.
      ...(verb === 'watch' ? [`${account} get ${what}`] : []),
    ]);

/**
 * Notes rights that no request of theirs shows: who clones from another namespace, for which CDI asks, and who binds a role,
 * for which the API server asks.
 */
export function noteUnasked({ server }: LocalCluster, noted: Set<string>): void {
  server.addAdmission(({ operation, resource, object, user }) => {
    if (resource.resource === 'rolebindings' && operation !== 'DELETE' && user.startsWith(prefix)) {
      noted.add(`${user.slice(prefix.length)} bind clusterroles.rbac.authorization.k8s.io`);
    }
    const { source } = (object?.spec ?? {}) as { source?: { snapshot?: { namespace?: string } } };
    const from = source?.snapshot?.namespace;
    if (operation !== 'CREATE' || resource.resource !== 'datavolumes' || !user.startsWith(prefix)) return;
    if (from === undefined || from === object?.metadata.namespace) return;
    noted.add(`${user.slice(prefix.length)} create datavolumes.cdi.kubevirt.io/source`);
  });
}

/** What accounts of the operator asked for and did not get. */
export interface Refusals {
  /** For lack of a rule (403). */
  refused: ReadonlySet<string>;
  /** Although they may: by a webhook, or by a namespace that goes, which takes nothing new. */
  declined: ReadonlySet<string>;
}

/** What was not taken, by whether the account may nevertheless do it everywhere. */
export async function refusals(cluster: LocalCluster): Promise<Refusals> {
  const [refused, declined] = [new Set<string>(), new Set<string>()];
  for (const { account, verb, what, status = '' } of answersOf(cluster)) {
    if (!['400', '403', '422'].includes(status)) continue;
    const asked = { account, verb, what };
    const isLack = status === '403' && !(await mayEverywhere(cluster, asked)) && !(await mayWhereBound(cluster, asked));
    (isLack ? refused : declined).add(`${account} ${verb} ${what}`);
  }
  return { refused, declined };
}

type Asked = Record<'account' | 'verb' | 'what', string>;

/** What it binds itself in a workspace, whose Namespace may be gone by now, or what an admin binds in namespaces of images. */
async function mayWhereBound({ kube }: LocalCluster, { account, verb, what }: Asked): Promise<boolean> {
  const names = [inWorkspaceRole(account), inImagesRole(account)];
  const roles = await Promise.all(names.map((name) => kube.get<KubernetesObject>(ClusterRole, { name })));
  const rules = roles.flatMap((role) => (role ? rulesFor(account, role) : []));
  return rules.some((rule) => inWords(rule) === `${account} ${verb} ${what}`);
}

async function mayEverywhere({ kube }: LocalCluster, { account, verb, what }: Asked) {
  const {
    resource = '',
    group = '',
    subresource = '',
  } = /^(?<resource>[^./]+)(?:\.(?<group>[^/]+))?(?:\/(?<subresource>.+))?$/.exec(what)?.groups ?? {};
  const resourceAttributes = { verb, group, resource, subresource };
  const spec = { user: `${prefix}${account}`, resourceAttributes };
  const { status } = await kube.create(SubjectAccessReview, { metadata: {}, spec });
  return status.allowed;
}
