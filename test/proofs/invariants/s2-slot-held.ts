import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { imageUidLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, State, Step } from './follow.ts';
import { isInFlight, mayDownload, rememberDone, stuckAfterMs } from './in-flight.ts';
import { hasEnded } from './plain-rules.ts';
import { existedAtStart } from './reconcile.ts';
import { usualSkewMs } from './s7-backoff.ts';
import { isExternal } from './writers.ts';

/**
 * S2, a slot for each download: the image of a DataVolume in flight (neither Succeeded, Failed nor being deleted) holds a slot.
 * If the DataVolume is deleted, its importer Pod keeps the slot until it ends, because it downloads until then. Nothing is judged
 * while the Lease is missing or unreadable, which only a user causes.
 * A write of the Lease is judged by what its reconcile could see, and a new DataVolume by the Lease that its reconcile saw; that
 * a concurrent change is repaired is L4. If the start of a reconcile is unknown, everything counts.
 */
export const s2SlotHeld: Invariant = {
  number: 'S2',
  rule: 'the image of a DataVolume in flight holds a slot',
  judge: (state) => {
    const done = rememberDone();
    const reported = new Set<string>();
    /** DataVolumes that the reconcile of the newest Lease did not see. */
    const excused = new Set<string>();
    const find = (dataVolume: DataVolume, { slots }: State) => {
      const { uid, name, labels } = dataVolume.metadata;
      if (!slots || slots.has(labels?.[imageUidLabel] ?? '') || reported.has(uid) || excused.has(uid)) return undefined;
      if (!isInFlight(dataVolume) || done.isDone(dataVolume)) return undefined;
      reported.add(uid);
      return `DataVolume ${name} is in flight without a slot`;
    };
    for (const [, downloads] of state.downloads) for (const [, object] of downloads) reported.add(object.metadata.uid);
    let leaseRevision = 0;
    return {
      download: (step) => {
        done.note(step);
        if (step.isGone) return undefined;
        // A write of the Lease does not stop a reconcile that creates the DataVolume of an earlier slot.
        const isLate = (step.change.since ?? step.revision) < leaseRevision;
        if (!step.before && (isLate || isExternal(step.change))) excused.add(step.object.metadata.uid);
        return find(step.object, step.state);
      },
      lease: (step) => {
        const all = [...step.state.downloads.values()].flatMap((downloads) => [...downloads.values()]);
        leaseRevision = step.revision;
        if (isExternal(step.change)) {
          for (const { metadata } of all) excused.add(metadata.uid);
          return undefined;
        }
        for (const { metadata } of all) {
          if (excused.has(metadata.uid) && isUnwanted(step.state, metadata.labels?.[imageUidLabel])) continue;
          if (step.change.since === undefined || existedAtStart(step, metadata.uid)) excused.delete(metadata.uid);
          else excused.add(metadata.uid);
        }
        const found = [...all.map((dataVolume) => find(dataVolume, step.state)), ...takenFrom(step)].filter(
          (one) => one !== undefined,
        );
        return found.length > 0 ? found.join('; ') : undefined;
      },
    };
  },
};

/**
 * follow-sync deletes the downloads of this image, so a slot that a user removed from the Lease stays free: start-sync does not
 * read them. The audit of prune deletes the downloads of an image that does not exist.
 */
const isUnwanted = ({ images }: State, uid = '') => !images.has(uid) || hasEnded(images.get(uid)?.status);

/** The slots that this write of the Lease released although its reconcile could see a running importer Pod. */
function takenFrom(step: Step<Lease>): string[] {
  const { slotsBefore, state, change } = step;
  const given = [...(slotsBefore?.values() ?? [])].filter(({ uid }) => state.slots && !state.slots.has(uid));
  return given.flatMap(({ uid, image }) =>
    [...(state.pods.get(uid)?.values() ?? [])]
      .filter((pod) => {
        const leftMs = change.atMs - Date.parse(pod.metadata.deletionTimestamp ?? '');
        return mayDownload(pod) && !(leftMs >= stuckAfterMs - usualSkewMs) && existedAtStart(step, pod.metadata.uid);
      })
      .map(({ metadata }) => `the slot of ${image} was released while importer ${metadata.name} runs`),
  );
}
