import type { ApiObject, OwnerReference } from '../../../deploy/local/api-server/objects.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { type StoreKey, type StoreWriter, storeKeys } from './store-writer.ts';

const owned: readonly StoreKey[] = [
  storeKeys.machines,
  storeKeys.dataVolumes,
  storeKeys.claims,
  storeKeys.pods,
  storeKeys.snapshots,
  storeKeys.secrets,
  storeKeys.kubeVirtMachines,
  storeKeys.instances,
];

/** A claim outlives its DataVolume, so that CDI may still create an importer for it. */
const claimLagMs = 400;

type Metadata = ApiObject['metadata'];

/**
 * Simulates the garbage collector as Kubernetes documents it. It deletes an object whose owners no longer exist, also if
 * the object is created after the deletion of its owner. An owner in foreground deletion counts as deleted, and is
 * removed once no dependent blocks it. An owner that is deleted with `orphan` is removed once no dependent names it.
 */
export function collectGarbage(writer: StoreWriter) {
  const there = new Map<string, ApiObject>();
  const isSolid = ({ uid }: OwnerReference) => {
    const owner = there.get(uid);
    return owner !== undefined && !isInForeground(owner.metadata);
  };
  const dependentsOf = (uid: string) =>
    owned.flatMap((storeKey) =>
      writer.state.store
        .list(storeKey)
        .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
        .map(({ metadata }) => ({ storeKey, metadata })),
    );
  const collect = (storeKey: StoreKey, { namespace, name, uid }: Metadata) => {
    const run = () => {
      const { ownerReferences = [], deletionTimestamp } =
        writer.get(storeKey, { namespace, name, uid })?.metadata ?? {};
      if (ownerReferences.length === 0 || deletionTimestamp || ownerReferences.some(isSolid)) return;
      const isForeground = ownerReferences.some((owner) => there.has(owner.uid));
      return writer.delete(storeKey, { namespace, name, uid }, isForeground ? 'Foreground' : 'Background');
    };
    return writer.schedule(run, storeKey === storeKeys.claims ? claimLagMs : 0);
  };
  const keepPromise = (storeKey: StoreKey, { namespace, name, uid, finalizers }: Metadata) => {
    const removeFinalizer = (finalizer: string) =>
      writer.removeFinalizer(storeKey, { namespace, name, uid }, finalizer);
    if (finalizers?.includes('orphan')) {
      for (const dependent of dependentsOf(uid)) writer.schedule(() => disown(writer, dependent, uid));
      writer.schedule(() => (dependentsOf(uid).length > 0 ? undefined : removeFinalizer('orphan')));
    }
    if (!finalizers?.includes('foregroundDeletion')) return;
    for (const dependent of dependentsOf(uid)) collect(dependent.storeKey, dependent.metadata);
    const blocks = ({ metadata }: { metadata: Metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion);
    writer.schedule(() => (dependentsOf(uid).some(blocks) ? undefined : removeFinalizer('foregroundDeletion')));
  };
  return ({ type, resource, object, previous }: StoreEvent) => {
    const { uid, ownerReferences = [], deletionTimestamp } = object.metadata;
    if (type === 'DELETED') there.delete(uid);
    else there.set(uid, object);
    if (type === 'ADDED' && ownerReferences.length > 0 && !ownerReferences.some(isSolid))
      collect(resource as StoreKey, object.metadata);
    if (type === 'MODIFIED' && deletionTimestamp) keepPromise(resource as StoreKey, object.metadata);
    if (type === 'DELETED') for (const { storeKey, metadata } of dependentsOf(uid)) collect(storeKey, metadata);
    // An owner may have waited for this deletion.
    for (const owner of previous?.metadata.ownerReferences ?? []) {
      const waiting = there.get(owner.uid);
      const isLess = type === 'DELETED' || !ownerReferences.some((one) => one.uid === owner.uid);
      const storeKey = waiting && isLess && storeKeyOf(writer, waiting);
      if (storeKey && waiting.metadata.deletionTimestamp) keepPromise(storeKey, waiting.metadata);
    }
  };
}

const isInForeground = ({ deletionTimestamp, finalizers }: Metadata) =>
  deletionTimestamp !== undefined && finalizers?.includes('foregroundDeletion');

function disown(writer: StoreWriter, { storeKey, metadata }: { storeKey: StoreKey; metadata: Metadata }, uid: string) {
  writer.change(storeKey, metadata, ({ metadata: { ownerReferences = [], ...rest }, ...object }) => {
    const left = ownerReferences.filter((owner) => owner.uid !== uid);
    return { ...object, metadata: { ...rest, ...(left.length > 0 ? { ownerReferences: left } : {}) } };
  });
}

function storeKeyOf({ state }: StoreWriter, { apiVersion, kind }: ApiObject): StoreKey | undefined {
  const found = state.kinds.byKind(apiVersion, kind);
  return found && (`${found.group}/${found.plural}` as StoreKey);
}
