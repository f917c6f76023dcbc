import { isDeepStrictEqual } from 'node:util';
import { leaseRef } from '../../../shared/images/slots.ts';
import { operatorNamespace, partOf } from '../../../shared/operator.ts';
import { policyName } from '../../../shared/policy.ts';
import { readPolicyMap } from '../../../shared/runtime/read-policy.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, anyOf, formatObject, Namespace } from './kinds.ts';
import { removeAll } from './remove.ts';
import { listOf } from './wait.ts';

const Lease = anyOf('coordination.k8s.io/v1', 'Lease');

/** Deletes the Lease of slots, which start-sync makes again from the downloads that run. */
export async function removeLease(cluster: Cluster): Promise<void> {
  const lease = await cluster.kube.get(Lease, leaseRef);
  if (lease) await removeAll(cluster, [lease]);
}

/** Deletes the objects of the functions (their Lease, our policy), and the namespace if it is ours and empty. */
export async function removeNamespace(cluster: Cluster, shipped: readonly AnyObject[]): Promise<void> {
  const { kube, say } = cluster;
  const namespace = await kube.get(Namespace, { name: operatorNamespace });
  if (!namespace) return;
  await removePolicy(cluster, shipped);
  await removeLease(cluster);
  const others = await othersIn(cluster);
  if (!isLabelled(namespace)) return say(`${formatObject(namespace)} is kept: the installer did not create it`);
  if (others.length > 0) {
    const names = others.slice(0, 5).map(formatObject).join(', ');
    return say(
      `${formatObject(namespace)} is kept: it contains objects of others: ${names}${others.length > 5 ? ', …' : ''}`,
    );
  }
  await removeAll(cluster, [namespace]);
}

const isLabelled = ({ metadata }: AnyObject) =>
  Object.entries(partOf).every(([key, value]) => metadata.labels?.[key] === value);

/** Deletes the policy if the installer created it, and prints what an admin changed in it. */
async function removePolicy(cluster: Cluster, shipped: readonly AnyObject[]): Promise<void> {
  const policy = await readPolicyMap(cluster.kube);
  if (!policy || !isLabelled(policy)) return;
  const before = shipped.find(({ kind, metadata }) => kind === policy.kind && metadata.name === policyName);
  if (!isDeepStrictEqual(policy.data, before?.data)) cluster.say(`the policy was ${JSON.stringify(policy.data)}`);
  await removeAll(cluster, [policy]);
}

/** Objects that every namespace has, and objects that their owners or Kubernetes delete. */
const isDefaultOrOwned = ({ kind, metadata }: AnyObject) =>
  (metadata.ownerReferences?.length ?? 0) > 0 ||
  metadata.deletionTimestamp !== undefined ||
  ['Event', 'Endpoints', 'EndpointSlice', 'PodMetrics'].includes(kind) ||
  (kind === 'ServiceAccount' && metadata.name === 'default') ||
  (kind === 'ConfigMap' && ['kube-root-ca.crt', 'openshift-service-ca.crt'].includes(metadata.name));

/** Every other object of the namespace, of any kind that the cluster serves. */
async function othersIn({ kube, read }: Cluster): Promise<AnyObject[]> {
  const kinds = await namespacedKinds(read);
  const found = await Promise.all(kinds.map((resource) => listOf(kube, resource, { namespace: operatorNamespace })));
  return found.flat().filter((object) => !isDefaultOrOwned(object) && !isLabelled(object));
}

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean; verbs: string[] }[];
}

/** Every kind that can be listed in a namespace, at the preferred version of its group. */
async function namespacedKinds(read: Cluster['read']) {
  const { groups = [] } = ((await read('/apis')) ?? {}) as {
    groups?: { preferredVersion: { groupVersion: string } }[];
  };
  const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
  const lists = await Promise.all(
    versions.map(async (version) => {
      // An aggregated API that is unavailable answers 503: its objects cannot be in use.
      const list = await read(`${version === 'v1' ? '/api' : '/apis'}/${version}`).catch(() => undefined);
      return ((list ?? {}) as ResourceList).resources
        ?.filter(({ name, namespaced, verbs }) => namespaced && verbs.includes('list') && !name.includes('/'))
        .map(({ name, kind }) => anyOf(version, kind, { plural: name }));
    }),
  );
  return lists.flat().filter((resource) => resource !== undefined);
}
