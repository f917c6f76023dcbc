import { serviceAccountUser } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { deleteObject } from './delete-object.ts';
import { type Kind, storeKeyOf } from './kind.ts';
import type { ApiObject, OwnerReference } from './objects.ts';
import { type ObjectKey, OwnerIndex } from './owner-index.ts';
import { StatusError } from './status-error.ts';
import { changeMetadata, withoutFinalizer } from './system-change.ts';
import { workQueue } from './work-queue.ts';

const user = serviceAccountUser({ namespace: 'kube-system', name: 'generic-garbage-collector' }).name;

/**
 * Deletes in the background what no owner is left for, and carries out what the finalizers `orphan` and
 * `foregroundDeletion` promise. An owner of another uid or in another namespace counts as gone.
 */
export function startGarbageCollector(state: ClusterState): () => void {
  const index = new OwnerIndex();
  const queue = workQueue(state.clock, (key) => collect(state, index, JSON.parse(key) as ObjectKey));
  const look = (key: ObjectKey) => queue.add(JSON.stringify(key));
  const stop = state.store.observe((event) => {
    const { metadata } = event.object;
    const key = { storeKey: event.resource, namespace: metadata.namespace, name: metadata.name };
    const { before, after } = index.update(key, event);
    const isChanged = before !== after;
    if (event.type === 'DELETED') for (const dependent of index.dependentsOf(metadata.uid)) look(dependent);
    else if (isChanged || promises(event.object)) look(key);
    if (isChanged) for (const owner of before) for (const waiting of index.waitingFor(owner.uid)) look(waiting);
  });
  return () => {
    stop();
    queue.stop();
  };
}

const promises = ({ metadata }: ApiObject) =>
  Boolean(metadata.deletionTimestamp) &&
  (metadata.finalizers ?? []).some((finalizer) => finalizer === 'orphan' || finalizer === 'foregroundDeletion');

async function collect(state: ClusterState, index: OwnerIndex, { storeKey, namespace, name }: ObjectKey) {
  const object = state.store.get(storeKey, namespace, name);
  const [group = '', plural = ''] = storeKey.split('/');
  const kind = state.kinds.anyVersion(group, plural);
  if (!object || !kind) return;
  try {
    if (promises(object)) await keepPromise(state, index, kind, object);
    else await collectWithoutOwner(state, kind, object);
  } catch (error) {
    // Gone or changed meanwhile: the event of that brings it here again.
    if (!(error instanceof StatusError && (error.status === 404 || error.status === 409))) throw error;
  }
}

async function collectWithoutOwner(state: ClusterState, kind: Kind, object: ApiObject) {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || object.metadata.deletionTimestamp) return;
  const gone = owners.filter((owner) => !isAlive(state, object, owner));
  if (gone.length === 0) return;
  if (gone.length < owners.length) return dropOwners(state, kind, object, new Set(gone.map((owner) => owner.uid)));
  const { uid, namespace, name } = object.metadata;
  const isForeground = owners.some((owner) => ownerOf(state, object, owner)?.metadata.deletionTimestamp);
  const propagationPolicy = isForeground ? 'Foreground' : 'Background';
  await deleteObject(state, kind, { namespace, name }, { user, preconditions: { uid }, propagationPolicy });
}

/** Whether an owner exists and is not itself waiting for the deletion of its dependents. */
function isAlive(state: ClusterState, object: ApiObject, reference: OwnerReference): boolean {
  const kind = state.kinds.byKind(reference.apiVersion, reference.kind);
  // An owner of a kind that is not served cannot be known to be deleted; and a cluster-scoped object may not have a namespaced owner.
  if (!kind || (kind.namespaced && !object.metadata.namespace)) return true;
  const owner = ownerOf(state, object, reference);
  if (!owner) return false;
  return !(owner.metadata.deletionTimestamp && owner.metadata.finalizers?.includes('foregroundDeletion'));
}

function ownerOf({ kinds, store }: ClusterState, object: ApiObject, reference: OwnerReference): ApiObject | undefined {
  const kind = kinds.byKind(reference.apiVersion, reference.kind);
  const namespace = kind?.namespaced ? object.metadata.namespace : undefined;
  const owner = kind && store.get(storeKeyOf(kind), namespace, reference.name);
  return owner?.metadata.uid === reference.uid ? owner : undefined;
}

async function keepPromise(state: ClusterState, index: OwnerIndex, kind: Kind, owner: ApiObject) {
  const dependents = index.dependentsOf(owner.metadata.uid).flatMap((key) => withKind(state, key) ?? []);
  if (owner.metadata.finalizers?.includes('orphan')) {
    for (const dependent of dependents) {
      await dropOwners(state, dependent.kind, dependent.object, new Set([owner.metadata.uid]));
    }
    return dropFinalizer(state, kind, owner, 'orphan');
  }
  for (const dependent of dependents) await collectWithoutOwner(state, dependent.kind, dependent.object);
  const blocking = dependents.filter(({ kind: of, object }) => {
    const current = state.store.get(storeKeyOf(of), object.metadata.namespace, object.metadata.name);
    return current?.metadata.ownerReferences?.some(
      (reference) => reference.uid === owner.metadata.uid && reference.blockOwnerDeletion,
    );
  });
  if (blocking.length === 0) await dropFinalizer(state, kind, owner, 'foregroundDeletion');
}

function withKind({ kinds, store }: ClusterState, { storeKey, namespace, name }: ObjectKey) {
  const [group = '', plural = ''] = storeKey.split('/');
  const kind = kinds.anyVersion(group, plural);
  const object = store.get(storeKey, namespace, name);
  return kind && object && { kind, object };
}

const dropOwners = (state: ClusterState, kind: Kind, object: ApiObject, uids: Set<string>) =>
  changeMetadata(state, kind, object, user, ({ ownerReferences = [], ...rest }) => {
    const left = ownerReferences.filter((reference) => !uids.has(reference.uid));
    return left.length > 0 ? { ...rest, ownerReferences: left } : rest;
  });

const dropFinalizer = (state: ClusterState, kind: Kind, object: ApiObject, finalizer: string) =>
  changeMetadata(state, kind, object, user, (metadata) => withoutFinalizer(metadata, finalizer));
