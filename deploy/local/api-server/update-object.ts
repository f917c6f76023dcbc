import { isDeepStrictEqual } from 'node:util';
import { admissionRequest, admit } from './admission.ts';
import {
  type ClusterState,
  type ObjectPlace,
  type Subresource,
  timestamp,
  type WriteOptions,
} from './cluster-state.ts';
import { dropUnknownFields, incomingObject } from './incoming-object.ts';
import { apiVersionOf, faultyKind, groupResourceOf, type Kind, keptForm, presented, storeKeyOf } from './kind.ts';
import { recordUpdate } from './managed-fields.ts';
import { metadataCauses } from './metadata-rules.ts';
import { type ApiObject, copyOf, frozen, sameContent } from './objects.ts';
import { askPolicies } from './policy-admission.ts';
import { type Cause, invalid as invalidField } from './schema-cause.ts';
import { conflict, invalid, misnamed, misplaced, modifiedMeanwhile, notFound } from './status-error.ts';

/** A change to one object: what it should be, given what it is. */
interface Change {
  place: ObjectPlace;
  subresource: Subresource;
  /** Called again on the newest object when a rival wrote in between. */
  desired(current: ApiObject): unknown;
  /** Whether `desired` has set managedFields already, as an apply does. */
  recorded?: boolean;
}

/** PUT and PATCH: replaces an object under its kind's rules; throws 404, 409, 422. A change of nothing writes nothing. */
export async function updateObject(
  state: ClusterState,
  kind: Kind,
  change: Change,
  options: WriteOptions,
): Promise<ApiObject> {
  const storeKey = storeKeyOf(kind);
  for (;;) {
    const stored = state.store.get(storeKey, change.place.namespace, change.place.name);
    if (!stored) throw notFound(groupResourceOf(kind), change.place.name);
    const current = presented(kind, stored);
    const next = nextObject(state, kind, change, current, options);
    options.confirm?.(next, current);
    const what = { operation: 'UPDATE', object: next, oldObject: current } as const;
    const request = admissionRequest(kind, options, what, change.subresource);
    await admit(state.admission, request);
    if (!kind.isUnchecked) refuseInvalid(kind, next, current, change.subresource);
    askPolicies(state, request, options.warn);
    if (state.store.get(storeKey, change.place.namespace, change.place.name) !== stored) continue;
    if (sameContent(next, current)) return current;
    return options.dryRun ? frozen(next) : store(state, kind, next);
  }
}

function nextObject(state: ClusterState, kind: Kind, change: Change, current: ApiObject, options: WriteOptions) {
  const desired = incomingObject(kind, change.desired(current));
  assertSameObject(kind, change, desired, current);
  const next = copyOf(
    change.subresource === 'status' ? withStatusOf(current, desired) : withSpecOf(kind, current, desired),
  );
  // What is applied fits the schema already, and its managedFields speak of all of it.
  if (!change.recorded && !kind.isUnchecked) dropUnknownFields(kind, next, options);
  const now = timestamp(state.clock);
  kind.schema?.applyDefaults(next);
  kind.prepareForUpdate?.(next, current, now);
  if (kind.hasGeneration && change.subresource !== 'status' && wantsMore(kind, next, current))
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  if (!change.recorded && !kind.isUnrecorded) {
    recordUpdate({
      before: current,
      after: next,
      manager: options.fieldManager,
      operation: 'Update',
      subresource: change.subresource,
      apiVersion: apiVersionOf(kind),
      time: now,
      schema: kind.openApiSchema,
    });
  }
  return next;
}

function assertSameObject(kind: Kind, { place }: Change, { metadata }: ApiObject, current: ApiObject) {
  if (metadata.name && metadata.name !== place.name) throw misnamed(metadata, place);
  if (metadata.namespace && metadata.namespace !== place.namespace) throw misplaced();
  if (!metadata.resourceVersion && !kind.replacesUnconditionally) {
    throw invalid({ group: kind.group, kind: kind.plural }, place.name, [
      invalidField('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (metadata.resourceVersion && metadata.resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(groupResourceOf(kind), place.name, modifiedMeanwhile);
  }
}

/** The system's own metadata of the object as it is; everything else as the client wants it. */
function withSpecOf(kind: Kind, current: ApiObject, desired: ApiObject): ApiObject {
  const next: ApiObject = {
    ...desired,
    metadata: { ...desired.metadata, ...systemFieldsOf(current), uid: desired.metadata.uid || current.metadata.uid },
  };
  for (const field of ['generation', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (current.metadata[field] === undefined) delete next.metadata[field];
  }
  if (!kind.statusSubresource) return next;
  const { status: _, ...rest } = next;
  return (current.status === undefined ? rest : { ...rest, status: current.status }) as ApiObject;
}

function systemFieldsOf({ metadata }: ApiObject) {
  const { name, namespace, resourceVersion, generation, creationTimestamp, generateName } = metadata;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return {
    name,
    resourceVersion,
    creationTimestamp,
    ...(namespace && { namespace }),
    ...(generateName && { generateName }),
    ...(generation !== undefined && { generation }),
    ...(deletionTimestamp && { deletionTimestamp, deletionGracePeriodSeconds: deletionGracePeriodSeconds ?? 0 }),
  };
}

/** The object as it is with the client's status; /status changes nothing else, whatever else it carries. */
function withStatusOf(current: ApiObject, desired: ApiObject): ApiObject {
  const { status: _, ...rest } = current;
  const { managedFields } = desired.metadata;
  const next = { ...rest, metadata: { ...current.metadata, ...(managedFields && { managedFields }) } };
  return (desired.status === undefined ? next : { ...next, status: desired.status }) as ApiObject;
}

function wantsMore(kind: Kind, next: ApiObject, current: ApiObject): boolean {
  const wanted = ({ metadata: _, status, ...rest }: ApiObject) => (kind.statusSubresource ? rest : { ...rest, status });
  return !isDeepStrictEqual(wanted(next), wanted(current));
}

function refuseInvalid(kind: Kind, next: ApiObject, current: ApiObject, subresource: string) {
  const causes = [
    ...metadataCauses(kind, next, current.metadata),
    ...((kind.custom && kind.schema?.validate(next, current).map(subresource ? fromStatus : whole)) || []),
    ...(kind.validate?.(next, current) ?? []),
  ];
  if (causes.length > 0) throw invalid(faultyKind(kind), next.metadata.name, causes);
}

const whole = (cause: Cause) => cause;

/** /status has the schema of the status alone, from which it says where a fault is. */
const fromStatus = (cause: Cause): Cause => ({ ...cause, message: cause.message.replace(': status.', ': ') });

/** Writes the object, or lets it go when this took away the last thing that held it. */
function store({ store }: ClusterState, kind: Kind, next: ApiObject): ApiObject {
  const { namespace, name, deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = next.metadata;
  const isOver =
    deletionTimestamp && deletionGracePeriodSeconds === 0 && finalizers.length === 0 && !kind.isHeld?.(next);
  if (isOver) {
    store.remove(storeKeyOf(kind), namespace, name);
    return frozen(next);
  }
  return presented(kind, store.put(storeKeyOf(kind), keptForm(kind, next)));
}
