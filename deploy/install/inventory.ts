import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { labelSelector } from '../../shared/kubernetes/selectors.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, keyOf, kindsOf } from './kinds.ts';
import { partOf } from './manifests.ts';
import { listOf } from './wait.ts';

/** Who the installer is to the API server. */
export const fieldManager = 'ot-install';

export type Inventory = Record<keyof typeof kindsOf, AnyObject[]>;

/** What of ours is in the cluster, by stage: what carries our label, but for what a controller made of it. */
export async function inventoryOf({ kube }: Cluster): Promise<Inventory> {
  const found = await Promise.all(
    Object.entries(kindsOf).map(async ([stage, kinds]) => {
      const lists = await Promise.all(
        kinds.map((resource) =>
          listOf(kube, resource, {
            labelSelector: labelSelector(partOf),
            ...(resource.namespaced ? { namespace: operatorNamespace } : {}),
          }),
        ),
      );
      // Knative Serving gives its Deployments and Services the labels of what they were made for.
      return [stage, lists.flat().filter((object) => !hasController(object))] as const;
    }),
  );
  return Object.fromEntries(found) as Inventory;
}

export const hasController = ({ metadata }: KubernetesObject) =>
  metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false;

/** What we applied and is no longer wanted; what others applied beside it is theirs, whatever its labels. */
export function obsoleteOf(inventory: Inventory, wanted: readonly KubernetesObject[]): Inventory {
  const keys = new Set(wanted.map(keyOf));
  const left = Object.entries(inventory).map(([stage, objects]) => [
    stage,
    objects.filter((object) => isApplied(object) && !keys.has(keyOf(object))),
  ]);
  return Object.fromEntries(left) as Inventory;
}

const isApplied = ({ metadata }: KubernetesObject) => {
  const { managedFields = [] } = metadata as { managedFields?: { manager?: string; operation?: string }[] };
  return managedFields.some(({ manager, operation }) => manager === fieldManager && operation === 'Apply');
};
