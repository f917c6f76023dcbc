import type { StoreEvent } from '../../deploy/local/api-server/watch-log.ts';
import { type Hands, type Shelf, shelves } from './hands.ts';

const owned: readonly Shelf[] = [
  shelves.dataVolumes,
  shelves.claims,
  shelves.pods,
  shelves.snapshots,
  shelves.secrets,
  shelves.kubeVirtMachines,
  shelves.instances,
];

/** Deletes, some time later, what has no owner left; also what is made for one that is gone already. */
export function collectGarbage(hands: Hands) {
  const uidsThere = new Set<string>();
  const collect = (shelf: Shelf, metadata: StoreEvent['object']['metadata']) =>
    hands.soon(() => hands.delete(shelf, { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid }));
  return ({ type, resource, object }: StoreEvent) => {
    const { uid, ownerReferences = [], deletionTimestamp } = object.metadata;
    if (type === 'ADDED') {
      uidsThere.add(uid);
      const isOrphan = ownerReferences.length > 0 && ownerReferences.every((owner) => !uidsThere.has(owner.uid));
      if (isOrphan && !deletionTimestamp) collect(resource as Shelf, object.metadata);
    }
    if (type !== 'DELETED') return;
    uidsThere.delete(uid);
    for (const shelf of owned) {
      for (const { metadata } of hands.state.store.list(shelf)) {
        if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) collect(shelf, metadata);
      }
    }
  };
}
