import type { Action } from '../actions.ts';
import { kupenstackFinalizer } from '../kinds/kupenstack/condition.ts';
import type { KubernetesObject, Resource } from '../kinds/resource.ts';

/** Adds the finalizer before anything is created in OpenStack, unless it exists. */
export function addFinalizer(resource: Resource, object: KubernetesObject): Action[] | undefined {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(kupenstackFinalizer)) return undefined;
  return [
    { do: 'patchMetadata', resource, of: object, metadata: { finalizers: [...finalizers, kupenstackFinalizer] } },
    { do: 'requeue', about: object },
  ];
}

/** Removes it, so that the object can be deleted: nothing in OpenStack is left of it. */
export const removeFinalizer = (resource: Resource, object: KubernetesObject): Action[] => [
  {
    do: 'patchMetadata',
    resource,
    of: object,
    metadata: { finalizers: (object.metadata.finalizers ?? []).filter((name) => name !== kupenstackFinalizer) },
  },
];

export const hasFinalizer = ({ metadata }: KubernetesObject) =>
  (metadata.finalizers ?? []).includes(kupenstackFinalizer);
