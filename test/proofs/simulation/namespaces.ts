import { emptied } from '../../../deploy/local/api-server/namespace-rules.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { type Hands, type Shelf, shelves } from './hands.ts';

/** The kinds of objects in the namespaces of workspaces. */
const contents: readonly Shelf[] = [
  shelves.machines,
  shelves.dataVolumes,
  shelves.claims,
  shelves.pods,
  shelves.secrets,
  shelves.kubeVirtMachines,
  shelves.instances,
];

/** Simulates the namespace controller: deletes everything in a deleted namespace, then removes the empty namespace. */
export function emptyNamespaces(hands: Hands) {
  const finish = (name: string) => {
    const namespace = hands.get(shelves.namespaces, { name });
    if (!namespace?.metadata.deletionTimestamp) return;
    const left = contents.flatMap((shelf) => hands.state.store.list(shelf, name).map((object) => ({ shelf, object })));
    for (const { shelf, object } of left)
      if (!object.metadata.deletionTimestamp) hands.soon(() => hands.delete(shelf, object.metadata, 'Background'));
    if (left.length > 0) return;
    hands.state.store.put(shelves.namespaces, emptied(namespace));
    hands.state.store.remove(shelves.namespaces, undefined, name);
  };
  return ({ type, resource, object }: StoreEvent) => {
    const isMarked = resource === shelves.namespaces && type === 'MODIFIED' && object.metadata.deletionTimestamp;
    const name = isMarked ? object.metadata.name : type === 'DELETED' ? object.metadata.namespace : undefined;
    const isDeleting = name && hands.state.store.get(shelves.namespaces, undefined, name)?.metadata.deletionTimestamp;
    if (isDeleting) hands.soon(() => finish(name));
  };
}
