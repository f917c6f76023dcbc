import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import type { StoreEvent } from '../../../deploy/local/api-server/watch-log.ts';
import { imageUidLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { cloneClaimed } from './cdi-clone.ts';
import { claimed, withPod } from './cdi-import.ts';
import { claimProtection, type Stage, Work } from './cdi-work.ts';
import type { Faults } from './faults.ts';
import { type StoreWriter, storeKeys } from './store-writer.ts';

/**
 * Simulates CDI, its importers and their kubelet, as far as a client can see: claim → importer Pod → progress → Succeeded, and
 * every failure of that. Each write is a step of its own.
 */
export function simulateCdi(
  writer: StoreWriter,
  faults: Faults,
  halfMsOf: (dataVolume: ApiObject) => number = () => 3000,
) {
  return ({ type, resource, object }: StoreEvent) => {
    if (type === 'ADDED' && resource === storeKeys.dataVolumes) {
      const isClone = (object.spec as { source?: { snapshot?: object } }).source?.snapshot !== undefined;
      const isOurs = object.metadata.labels?.[imageUidLabel] !== undefined;
      const how = isOurs && !isClone ? faults.at(faults.count('download'), 'download')?.how : undefined;
      go(new Work(writer, object, how, halfMsOf(object)), isClone ? cloneClaimed : claimed);
    }
    if (type === 'MODIFIED' && object.metadata.deletionTimestamp) leave(writer, faults, resource, object);
  };
}

/** Runs this stage and those after it, while the DataVolume exists; an importer is made as long as its claim does. */
function go(work: Work, stage: Stage, { inMs = 0, waits = false }: { inMs?: number; waits?: boolean } = {}) {
  const { writer, ref } = work;
  const step = () => {
    const dataVolume = writer.get(storeKeys.dataVolumes, ref);
    const isGone = !dataVolume || dataVolume.metadata.deletionTimestamp;
    const filled = isGone ? stage === withPod && work.claim : dataVolume;
    if (!filled) return;
    const then = stage(work, filled);
    if (then) go(work, then.next, then);
  };
  if (waits) writer.retryAfter(step, inMs);
  else writer.schedule(step, inMs);
}

/** Completes deletions: of a claim when no Pod uses it, of a Pod when its kubelet has ended it. */
function leave(writer: StoreWriter, faults: Faults, resource: string, { metadata }: ApiObject) {
  const ref = { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
  if (resource === storeKeys.claims && metadata.finalizers?.includes(claimProtection))
    writer.schedule(() => writer.removeFinalizer(storeKeys.claims, ref, claimProtection));
  if (resource === storeKeys.pods) {
    const lingers = faults.areOn && metadata.annotations?.lingers !== undefined;
    const end = () => {
      if (writer.get(storeKeys.pods, ref)) writer.state.store.remove(storeKeys.pods, ref.namespace, ref.name);
    };
    writer.schedule(end, lingers ? 45_000 : 1000);
  }
}
