import type { KubernetesObject } from '../../../shared/kinds/resource.ts';

interface Owner {
  apiVersion: string;
  kind: string;
  metadata: { name: string; uid: string };
}

/** The reference by which an object belongs to its controller and goes with it. */
export const ownedBy = ({ apiVersion, kind, metadata: { name, uid } }: Owner) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

export const controllerOf = (object: KubernetesObject) =>
  object.metadata.ownerReferences?.find((reference) => reference.controller);

export const isControlledBy = (object: KubernetesObject, owner: KubernetesObject) =>
  controllerOf(object)?.uid === owner.metadata.uid;
