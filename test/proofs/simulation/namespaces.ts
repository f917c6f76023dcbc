import { emptied } from '../../../deploy/local/api-server/namespace-rules.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { type StoreKey, type StoreWriter, storeKeys } from './store-writer.ts';

/** The kinds of objects in the namespaces of workspaces. */
const contents: readonly StoreKey[] = [
  storeKeys.machines,
  storeKeys.dataVolumes,
  storeKeys.claims,
  storeKeys.pods,
  storeKeys.secrets,
  storeKeys.kubeVirtMachines,
  storeKeys.instances,
];

/** Simulates the namespace controller: deletes everything in a deleted namespace, then removes the empty namespace. */
export function emptyNamespaces(writer: StoreWriter) {
  const finish = (name: string) => {
    const namespace = writer.get(storeKeys.namespaces, { name });
    if (!namespace?.metadata.deletionTimestamp) return;
    const left = contents.flatMap((storeKey) =>
      writer.state.store.list(storeKey, name).map((object) => ({ storeKey, object })),
    );
    for (const { storeKey, object } of left)
      if (!object.metadata.deletionTimestamp)
        writer.schedule(() => writer.delete(storeKey, object.metadata, 'Background'));
    if (left.length > 0) return;
    writer.state.store.put(storeKeys.namespaces, emptied(namespace));
    writer.state.store.remove(storeKeys.namespaces, undefined, name);
  };
  return ({ type, resource, object }: StoreEvent) => {
    const isMarked = resource === storeKeys.namespaces && type === 'MODIFIED' && object.metadata.deletionTimestamp;
    const name = isMarked ? object.metadata.name : type === 'DELETED' ? object.metadata.namespace : undefined;
    const isDeleting =
      name && writer.state.store.get(storeKeys.namespaces, undefined, name)?.metadata.deletionTimestamp;
    if (isDeleting) writer.schedule(() => finish(name));
  };
}
