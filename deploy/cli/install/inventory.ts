import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { labelSelector } from '../../../shared/kubernetes/selectors.ts';
import { operatorNamespace, partOf } from '../../../shared/operator.ts';
import { manifestKey } from '../../manifests.ts';
import type { Cluster } from './cluster.ts';
import { type AnyObject, kindsOf } from './kinds.ts';
import { listOf } from './wait.ts';

export const fieldManager = 'ot-install';

type Kinds = Partial<typeof kindsOf>;
type Inventory<K extends Kinds = typeof kindsOf> = Record<keyof K, AnyObject[]>;

/** The objects of ours in the cluster, by stage (of all kinds, or these): those with our label, except what a controller created from them. */
export async function inventoryOf<K extends Kinds = typeof kindsOf>(
  { kube }: Cluster,
  ofKinds: K = kindsOf as K,
): Promise<Inventory<K>> {
  const found = await Promise.all(
    Object.entries(ofKinds).map(async ([stage, kinds]) => {
      const lists = await Promise.all(
        kinds.map((resource) => listOf(kube, resource, { labelSelector: labelSelector(partOf) })),
      );
      // Knative Serving copies the labels of a Service to its Deployments and Services.
      return [stage, lists.flat().filter((object) => isOurs(object) && !hasController(object))] as const;
    }),
  );
  return Object.fromEntries(found) as Inventory<K>;
}

/** What bears our label in another namespace may be an admin's, such as production/importers.yaml. */
const isOurs = (object: AnyObject) =>
  [undefined, operatorNamespace].includes(object.metadata.namespace) || isApplied(object);

const hasController = ({ metadata }: KubernetesObject) =>
  metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false;

/** Objects that the installer applied and that are no longer in the manifests; objects that others applied are theirs, whatever their labels. */
export function obsoleteOf(inventory: Inventory, wanted: readonly KubernetesObject[]): Inventory {
  const keys = new Set(wanted.map(manifestKey));
  const left = Object.entries(inventory).map(([stage, objects]) => [
    stage,
    objects.filter((object) => isApplied(object) && !keys.has(manifestKey(object))),
  ]);
  return Object.fromEntries(left) as Inventory;
}

const isApplied = ({ metadata }: KubernetesObject) => {
  const { managedFields = [] } = metadata as { managedFields?: { manager?: string; operation?: string }[] };
  return managedFields.some(({ manager, operation }) => manager === fieldManager && operation === 'Apply');
};
