import type { ClusterState, ObjectPlace, Subresource, WriteOptions } from './cluster-state.ts';
import { createObject } from './create-object.ts';
import { incomingObject } from './incoming-object.ts';
import { groupResourceOf, type Kind, storeKeyOf } from './kind.ts';
import { type ApiObject, copyOf } from './objects.ts';
import { scaleKind, withScale } from './scale.ts';
import { conflict, misnamed } from './status-error.ts';
import { updateObject } from './update-object.ts';

/** PUT: the body becomes the object. `created` tells the kinds apart that PUT may also make. */
export async function replaceObject(
  state: ClusterState,
  kind: Kind,
  place: ObjectPlace,
  subresource: Subresource,
  body: unknown,
  options: WriteOptions,
): Promise<{ object: ApiObject; created: boolean }> {
  const object = incomingObject(subresource === 'scale' ? scaleKind : kind, body);
  const stored = state.store.get(storeKeyOf(kind), place.namespace, place.name);
  const creates = !stored && kind.createsOnUpdate && !subresource;
  if (stored || creates) assertMeant(kind, place, object, stored);
  if (creates) {
    // The real server does not mind the resourceVersion of an object that is gone: only a uid keeps it from coming back.
    const { resourceVersion: _, ...metadata } = object.metadata;
    const fresh = { ...object, metadata };
    return { object: await createObject(state, kind, place.namespace, fresh, options), created: true };
  }
  const desired = (current: ApiObject) => (subresource === 'scale' ? withScale(kind, current, object) : copyOf(object));
  return { object: await updateObject(state, kind, { place, subresource, desired }, options), created: false };
}

function assertMeant(
  kind: Kind,
  { namespace, name }: ObjectPlace,
  { metadata }: ApiObject,
  stored: ApiObject | undefined,
) {
  if (metadata.name && metadata.name !== name) throw misnamed(metadata, { name });
  const uid = stored?.metadata.uid ?? '';
  if (!metadata.uid || metadata.uid === uid) return;
  const key = ['/registry', ...(kind.custom ? [kind.group] : []), kind.plural, ...(namespace ? [namespace] : []), name];
  const failed = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${uid}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${key.join('/')}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
  throw conflict(groupResourceOf(kind), name, why);
}
