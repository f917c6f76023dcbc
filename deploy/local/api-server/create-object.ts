import { randomInt, randomUUID } from 'node:crypto';
import { admissionRequest, admit } from './admission.ts';
import { type ClusterState, timestamp, type WriteOptions } from './cluster-state.ts';
import { dropUnknownFields, incomingObject } from './incoming-object.ts';
import { apiVersionOf, faultyKind, groupResourceOf, type Kind, keptForm, presented, storeKeyOf } from './kind.ts';
import { assertKindStays, assertNamespaceTakes } from './lifecycle-admission.ts';
import { recordUpdate } from './managed-fields.ts';
import { metadataCauses } from './metadata-rules.ts';
import { type ApiObject, copyOf, frozen } from './objects.ts';
import { askPolicies } from './policy-admission.ts';
import { alreadyExists, invalid, misplaced, StatusError } from './status-error.ts';

/** POST: makes a new object of the body; `recorded` says that its managedFields are set already, by an apply. */
export async function createObject(
  state: ClusterState,
  kind: Kind,
  namespace: string | undefined,
  body: unknown,
  options: WriteOptions,
  recorded = false,
): Promise<ApiObject> {
  assertKindStays(state, kind);
  const object = copyOf(incomingObject(kind, body));
  if (object.metadata.resourceVersion) {
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  placeIn(namespace, object);
  // What is applied fits the schema already, and its managedFields speak of all of it.
  if (!recorded && !kind.isUnchecked) dropUnknownFields(kind, object, options);
  setSystemFields(state, kind, object);
  complete(state, kind, object, options, recorded);
  assertNamespaceTakes(state, kind, object);
  options.confirm?.(object);
  const request = admissionRequest(kind, options, { operation: 'CREATE', object, oldObject: undefined });
  await admit(state.admission, request);
  if (!kind.isUnchecked) refuseInvalid(kind, object);
  askPolicies(state, request, options.warn);
  options.authoriseCreate?.();
  return store(state, kind, object, options.dryRun);
}

function placeIn(namespace: string | undefined, { metadata }: ApiObject) {
  if (metadata.namespace && metadata.namespace !== namespace) throw misplaced();
  if (namespace) metadata.namespace = namespace;
}

/** Sets what no client may choose. */
function setSystemFields(state: ClusterState, kind: Kind, object: ApiObject) {
  const { metadata } = object;
  for (const field of [
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'selfLink',
    'generation',
    'resourceVersion',
  ]) {
    delete metadata[field];
  }
  if (!metadata.name && metadata.generateName) metadata.name = `${metadata.generateName.slice(0, 58)}${suffix()}`;
  metadata.uid = state.newUid?.() ?? randomUUID();
  metadata.creationTimestamp = timestamp(state.clock);
  if (kind.hasGeneration) metadata.generation = 1;
  if (kind.statusSubresource) delete object.status;
}

// The letters of apimachinery's rand.String: no vowels, nothing that reads like another.
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffix = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');

function complete(state: ClusterState, kind: Kind, object: ApiObject, options: WriteOptions, recorded: boolean) {
  kind.schema?.applyDefaults(object);
  const now = timestamp(state.clock);
  kind.prepareForCreate?.(object, now);
  if (recorded || kind.isUnrecorded) return;
  // The server sets the first status; no manager owns its fields.
  const { status, ...manageable } = object;
  const after = kind.statusSubresource ? manageable : object;
  recordUpdate({
    before: undefined,
    after,
    manager: options.fieldManager,
    operation: 'Update',
    subresource: '',
    apiVersion: apiVersionOf(kind),
    time: now,
    schema: kind.openApiSchema,
  });
}

function refuseInvalid(kind: Kind, object: ApiObject) {
  const causes = [
    ...metadataCauses(kind, object),
    ...((kind.custom && kind.schema?.validate(object)) || []),
    ...(kind.validate?.(object) ?? []),
  ];
  if (causes.length > 0) throw invalid(faultyKind(kind), object.metadata.name ?? '', causes);
}

function store({ store }: ClusterState, kind: Kind, object: ApiObject, dryRun: boolean): ApiObject {
  const { namespace, name } = object.metadata;
  const rival = store.get(storeKeyOf(kind), namespace, name);
  if (rival) throw alreadyExists(groupResourceOf(kind), name, rival.metadata.deletionTimestamp !== undefined);
  if (dryRun) return frozen(object);
  return presented(kind, store.put(storeKeyOf(kind), keptForm(kind, object)));
}
