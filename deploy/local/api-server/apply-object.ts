import { type ClusterState, timestamp, type WriteOptions } from './cluster-state.ts';
import { createObject } from './create-object.ts';
import { incomingObject } from './incoming-object.ts';
import { apiVersionOf, groupResourceOf, type Kind, storeKeyOf } from './kind.ts';
import {
  type ApplyConflict,
  type ApplyRequest,
  ApplyTypeError,
  applyServerSide,
  describeConflicts,
} from './managed-fields.ts';
import { groupVersionInWords } from './managed-fields-typed.ts';
import { type ApiObject, copyOf, isJsonObject } from './objects.ts';
import type { PatchRequest } from './patch-request.ts';
import { required } from './schema-cause.ts';
import { badRequest, conflict, invalid, misnamed, notFound, StatusError } from './status-error.ts';
import { updateObject } from './update-object.ts';

/** Server-side apply: the fields in the body become `fieldManager`'s; 409 where they are another's, unless forced. */
export async function applyObject(
  state: ClusterState,
  kind: Kind,
  request: PatchRequest,
  options: WriteOptions,
): Promise<{ object: ApiObject; created: boolean }> {
  const { place, subresource } = request;
  const applied = appliedObject(kind, request, options);
  const stored = state.store.get(storeKeyOf(kind), place.namespace, place.name);
  if (stored) {
    const desired = (current: ApiObject) => merged(state, kind, request, applied, current, options);
    const change = { place, subresource, desired, recorded: true };
    return { object: await updateObject(state, kind, change, options), created: false };
  }
  assertMayCreate(kind, request, applied);
  const object = merged(state, kind, request, applied, undefined, options);
  return { object: await createObject(state, kind, place.namespace, object, options, true), created: true };
}

function appliedObject(
  kind: Kind,
  { place, subresource, patch }: PatchRequest,
  { fieldManager }: WriteOptions,
): ApiObject {
  if (!fieldManager) {
    const missing = required('fieldManager', 'is required for apply patch');
    throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [missing]);
  }
  const { apiVersion = '', kind: found = '' } = (isJsonObject(patch) ? patch : {}) as Partial<ApiObject>;
  if (apiVersion !== apiVersionOf(kind) || found !== kind.kind) {
    throw badRequest(`invalid object type: ${groupVersionInWords(apiVersion)}, Kind=${found}`);
  }
  const object = copyOf(incomingObject(kind, patch));
  // A client that applies the object cannot set fields that only /status writes, and does not become their manager.
  if (!subresource && kind.statusSubresource) delete object.status;
  if (object.metadata.managedFields) throw badRequest('metadata.managedFields must be nil');
  if (!object.metadata.name) {
    throw badRequest(`the name of the object (${place.name} based on URL) was undeterminable: name must be provided`);
  }
  return object;
}

function assertMayCreate(kind: Kind, { place, subresource }: PatchRequest, { metadata }: ApiObject) {
  const of = groupResourceOf(kind);
  if (subresource) throw notFound(of, place.name);
  if (metadata.name !== place.name) throw misnamed(metadata, place);
  if (metadata.uid) {
    const why = `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`;
    throw conflict(of, place.name, why);
  }
}

function merged(
  { clock }: ClusterState,
  kind: Kind,
  { force, subresource }: PatchRequest,
  applied: ApiObject,
  live: ApiObject | undefined,
  { fieldManager }: WriteOptions,
): ApiObject {
  const { resourceVersion: _, ...metadata } = applied.metadata;
  const { object, conflicts } = mergeable({
    live,
    applied: live ? applied : ({ ...applied, metadata } as ApiObject),
    manager: fieldManager,
    force,
    subresource,
    apiVersion: apiVersionOf(kind),
    time: timestamp(clock),
    ...(kind.openApiSchema && { schema: kind.openApiSchema }),
  });
  if (conflicts.length > 0) throw applyConflict(conflicts);
  return object as ApiObject;
}

function mergeable(request: ApplyRequest) {
  try {
    return applyServerSide(request);
  } catch (error) {
    if (error instanceof ApplyTypeError) throw new StatusError(500, '', error.message);
    throw error;
  }
}

function applyConflict(conflicts: ApplyConflict[]) {
  const causes = conflicts.map(({ owner, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${owner}`,
    field,
  }));
  return new StatusError(409, 'Conflict', describeConflicts(conflicts), { causes });
}
