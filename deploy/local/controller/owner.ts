import type { KubernetesObject } from '../../../shared/kinds/resource.ts';

interface Owner {
  apiVersion: string;
  kind: string;
  metadata: { name: string; uid: string };
}

/** The owner reference to the controller, which also deletes the object with it. */
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
