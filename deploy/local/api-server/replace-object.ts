import type { ClusterState, ObjectPlace, WriteOptions } from './cluster-state.ts';
import { createObject } from './create-object.ts';
import { incomingObject } from './incoming-object.ts';
import { groupResourceOf, type Kind, shelfOf } from './kind.ts';
import { type ApiObject, copyOf } from './objects.ts';
import { invalid as invalidField } from './schema-cause.ts';
import { conflict, invalid } from './status-error.ts';
import { updateObject } from './update-object.ts';

/** PUT: the body becomes the object. `created` tells the kinds apart that PUT may also make. */
export async function replaceObject(
  state: ClusterState,
  kind: Kind,
  place: ObjectPlace,
  subresource: '' | 'status',
  body: unknown,
  options: WriteOptions,
): Promise<{ object: ApiObject; created: boolean }> {
  const object = incomingObject(kind, body);
  const stored = state.store.get(shelfOf(kind), place.namespace, place.name);
  if (!stored && kind.createsOnUpdate && !subresource && !object.metadata.resourceVersion) {
    return { object: await createObject(state, kind, place.namespace, body, options), created: true };
  }
  if (stored) assertMeant(kind, object, stored);
  const desired = () => copyOf(object);
  return { object: await updateObject(state, kind, { place, subresource, desired }, options), created: false };
}

function assertMeant(kind: Kind, { metadata }: ApiObject, stored: ApiObject) {
  const of = groupResourceOf(kind);
  if (metadata.uid && metadata.uid !== stored.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${stored.metadata.uid}`;
    throw conflict(of, stored.metadata.name, why);
  }
  if (kind.custom && !metadata.resourceVersion) {
    throw invalid({ group: kind.group, kind: kind.plural }, stored.metadata.name, [
      invalidField('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
}
