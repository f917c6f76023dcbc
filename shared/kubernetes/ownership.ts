import { type KubernetesObject, nameOf, type Resource } from '../kinds/resource.ts';

/** The owner reference of an object that is deleted with this one; it does not block the owner's deletion. */
export const controlledBy = (
  { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>,
  { metadata: { name, uid } }: KubernetesObject,
) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: false,
});

/** The object of this uid is an owner of the other. */
export const isOwnedBy = (uid: string, { metadata }: KubernetesObject) =>
  metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

/** This very object is an owner of the other. */
export const owns = ({ metadata }: KubernetesObject, object: KubernetesObject) => isOwnedBy(metadata.uid, object);

/** An object of this kind is an owner of the other. */
export const isOwnedByKind = (
  { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>,
  { metadata }: KubernetesObject,
) => metadata.ownerReferences?.some((owner) => owner.apiVersion === apiVersion && owner.kind === kind) ?? false;

/** Why an object that `owner` does not own is in the way, where one of its own would have that name. */
export function nameTaken(called: 'machine' | 'workspace', owner: KubernetesObject, object: KubernetesObject) {
  const { apiVersion, kind, metadata } = owner;
  const isOfEarlier = object.metadata.ownerReferences?.some(
    (one) => one.apiVersion === apiVersion && one.kind === kind && one.name === metadata.name,
  );
  const found = nameOf(object, object.metadata);
  // Garbage collection deletes what an earlier one owned.
  const message = isOfEarlier
    ? `Waiting until ${found} of an earlier ${called} of this name is gone.`
    : `Expected ${found} to be the ${called}'s own, found another owner's; delete or rename it.`;
  return { reason: 'NameTaken' as const, message, isFinal: !isOfEarlier };
}
