import type { KubernetesObject } from '../../shared/resources/resource.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { labelSelector } from '../../shared/rules/selectors.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, kindsOf, resourceOf } from './kinds.ts';
import { partOf } from './manifests.ts';
import { listOf } from './wait.ts';

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

/** What is there and no longer wanted. */
export function obsoleteOf(inventory: Inventory, wanted: readonly KubernetesObject[]): Inventory {
  const keys = new Set(wanted.map(keyOf));
  const left = Object.entries(inventory).map(([stage, objects]) => [
    stage,
    objects.filter((object) => !keys.has(keyOf(object))),
  ]);
  return Object.fromEntries(left) as Inventory;
}

const keyOf = (object: KubernetesObject) => {
  const { apiVersion, kind } = resourceOf(object);
  return [apiVersion, kind, object.metadata.namespace ?? '', object.metadata.name].join(' ');
};
