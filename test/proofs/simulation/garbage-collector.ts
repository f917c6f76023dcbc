import type { ApiObject, OwnerReference } from '../../../deploy/local/api-server/objects.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { type Hands, type Shelf, shelves } from './hands.ts';

const owned: readonly Shelf[] = [
  shelves.machines,
  shelves.dataVolumes,
  shelves.claims,
  shelves.pods,
  shelves.snapshots,
  shelves.secrets,
  shelves.kubeVirtMachines,
  shelves.instances,
];

type Metadata = ApiObject['metadata'];

/**
 * Simulates the garbage collector as Kubernetes documents it. It deletes an object whose owners no longer exist, also if
 * the object is created after the deletion of its owner. An owner in foreground deletion counts as deleted, and is
 * removed once no dependent blocks it. An owner that is deleted with `orphan` is removed once no dependent names it.
 */
export function collectGarbage(hands: Hands) {
  const there = new Map<string, ApiObject>();
  const isSolid = ({ uid }: OwnerReference) => {
    const owner = there.get(uid);
    return owner !== undefined && !isInForeground(owner.metadata);
  };
  const dependentsOf = (uid: string) =>
    owned.flatMap((shelf) =>
      hands.state.store
        .list(shelf)
        .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
        .map(({ metadata }) => ({ shelf, metadata })),
    );
  const collect = (shelf: Shelf, { namespace, name, uid }: Metadata) =>
    hands.soon(() => {
      const { ownerReferences = [], deletionTimestamp } = hands.get(shelf, { namespace, name, uid })?.metadata ?? {};
      if (ownerReferences.length === 0 || deletionTimestamp || ownerReferences.some(isSolid)) return;
      const isForeground = ownerReferences.some((owner) => there.has(owner.uid));
      return hands.delete(shelf, { namespace, name, uid }, isForeground ? 'Foreground' : 'Background');
    });
  const keepPromise = (shelf: Shelf, { namespace, name, uid, finalizers }: Metadata) => {
    const removeFinalizer = (finalizer: string) => hands.removeFinalizer(shelf, { namespace, name, uid }, finalizer);
    if (finalizers?.includes('orphan')) {
      for (const dependent of dependentsOf(uid)) hands.soon(() => disown(hands, dependent, uid));
      hands.soon(() => (dependentsOf(uid).length > 0 ? undefined : removeFinalizer('orphan')));
    }
    if (!finalizers?.includes('foregroundDeletion')) return;
    for (const dependent of dependentsOf(uid)) collect(dependent.shelf, dependent.metadata);
    const blocks = ({ metadata }: { metadata: Metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion);
    hands.soon(() => (dependentsOf(uid).some(blocks) ? undefined : removeFinalizer('foregroundDeletion')));
  };
  return ({ type, resource, object, previous }: StoreEvent) => {
    const { uid, ownerReferences = [], deletionTimestamp } = object.metadata;
    if (type === 'DELETED') there.delete(uid);
    else there.set(uid, object);
    if (type === 'ADDED' && ownerReferences.length > 0 && !ownerReferences.some(isSolid))
      collect(resource as Shelf, object.metadata);
    if (type === 'MODIFIED' && deletionTimestamp) keepPromise(resource as Shelf, object.metadata);
    if (type === 'DELETED') for (const { shelf, metadata } of dependentsOf(uid)) collect(shelf, metadata);
    // An owner may have waited for this deletion.
    for (const owner of previous?.metadata.ownerReferences ?? []) {
      const waiting = there.get(owner.uid);
      const isLess = type === 'DELETED' || !ownerReferences.some((one) => one.uid === owner.uid);
      const shelf = waiting && isLess && shelfOf(hands, waiting);
      if (shelf && waiting.metadata.deletionTimestamp) keepPromise(shelf, waiting.metadata);
    }
  };
}

const isInForeground = ({ deletionTimestamp, finalizers }: Metadata) =>
  deletionTimestamp !== undefined && finalizers?.includes('foregroundDeletion');

function disown(hands: Hands, { shelf, metadata }: { shelf: Shelf; metadata: Metadata }, uid: string) {
  hands.change(shelf, metadata, ({ metadata: { ownerReferences = [], ...rest }, ...object }) => {
    const left = ownerReferences.filter((owner) => owner.uid !== uid);
    return { ...object, metadata: { ...rest, ...(left.length > 0 ? { ownerReferences: left } : {}) } };
  });
}

function shelfOf({ state }: Hands, { apiVersion, kind }: ApiObject): Shelf | undefined {
  const found = state.kinds.byKind(apiVersion, kind);
  return found && (`${found.group}/${found.plural}` as Shelf);
}
