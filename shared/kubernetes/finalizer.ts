import type { Action } from '../actions.ts';
import { kupenstackFinalizer } from '../kinds/kupenstack/condition.ts';
import type { KubernetesObject, Resource } from '../kinds/resource.ts';

/** Adds the finalizer before anything is created in OpenStack, unless it exists. */
export function hold(resource: Resource, object: KubernetesObject): Action[] | undefined {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(kupenstackFinalizer)) return undefined;
  return [
    {
      do: 'patchMetadata',
      resource,
      of: object,
      metadata: { finalizers: [...finalizers, kupenstackFinalizer] },
    },
    { do: 'requeue', about: object },
  ];
}

/** Lets the object go: nothing of it is left. */
export const removeFinalizer = (resource: Resource, object: KubernetesObject): Action[] => [
  {
    do: 'patchMetadata',
    resource,
    of: object,
    metadata: { finalizers: (object.metadata.finalizers ?? []).filter((name) => name !== kupenstackFinalizer) },
  },
];

export const isHeld = ({ metadata }: KubernetesObject) => (metadata.finalizers ?? []).includes(kupenstackFinalizer);
