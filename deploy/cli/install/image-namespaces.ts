import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { inImagesRole, partOf } from '../../../shared/operator.ts';
import { parsePolicy, policyName } from '../../../shared/policy.ts';
import { readPolicyMap } from '../../../shared/runtime/read-policy.ts';
import type { Cluster } from './cluster.ts';
import { ConfigMap, Namespace } from './kinds.ts';

/** The bindings of what functions may do in namespaces of images alone: one in each of them that exists. */
export async function bindingsInImageNamespaces(
  { kube, say }: Pick<Cluster, 'kube' | 'say'>,
  wanted: readonly KubernetesObject[],
): Promise<KubernetesObject[]> {
  const roles = new Set(wanted.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata }) => metadata.name));
  const isAccount = ({ kind, metadata }: KubernetesObject) =>
    kind === 'ServiceAccount' && roles.has(inImagesRole(metadata.name));
  const accounts = wanted.filter(isAccount).map(({ metadata }) => metadata);
  if (accounts.length === 0) return [];
  const isPolicy = ({ kind, metadata }: KubernetesObject) => kind === ConfigMap.kind && metadata.name === policyName;
  // An existing policy is the admin's, and is left as it is.
  const policy = (await readPolicyMap(kube)) ?? wanted.find(isPolicy);
  const { imageNamespaces } = parsePolicy(policy as Parameters<typeof parsePolicy>[0]).values;
  const bindings: KubernetesObject[] = [];
  for (const namespace of imageNamespaces) {
    const found = await kube.get(Namespace, { name: namespace });
    if (found && !found.metadata.deletionTimestamp)
      bindings.push(...accounts.map(({ name, namespace: home }) => binding(name, home, namespace)));
    else
      say(
        `namespace ${namespace} of the policy's imageNamespaces does not exist yet; run this again once it does, or its images are not inspected`,
      );
  }
  return bindings;
}

const binding = (account: string, home: string | undefined, namespace: string) =>
  ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: account, namespace, labels: partOf },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: inImagesRole(account) },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: home }],
  }) as unknown as KubernetesObject;
