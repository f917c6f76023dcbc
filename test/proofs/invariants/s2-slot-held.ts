import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { imageUidLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, State, Step } from './follow.ts';
import { isAtWork, isInFlight, rememberDone, stuckAfterMs } from './in-flight.ts';
import { wasThere } from './pass.ts';
import { hasEnded } from './plain-rules.ts';
import { usualSkewMs } from './s7-backoff.ts';
import { isByHand } from './writers.ts';

/**
 * S2, a DataVolume in flight has a slot: neither Succeeded nor Failed nor being deleted; and where that is deleted, its importer
 * keeps the slot until it is gone too, for it goes on downloading until then (CDI reference). Nobody is judged while the Lease is
 * missing or cannot be read, which only a hand brings about; as soon as it is there again everybody is (reliability §2, L4).
 * A write of the Lease is judged by what its pass could see, and a DataVolume by the Lease that its own pass saw: of what a rival or
 * a hand did meanwhile L4 asks that it is put right (DESIGN §10). Where nobody knows when a pass began all is judged at once.
 */
export const s2SlotHeld: Invariant = {
  number: 'S2',
  says: 'a DataVolume in flight has a slot',
  judge: (state) => {
    const done = rememberDone();
    const said = new Set<string>();
    /** Those that the pass behind the newest Lease did not see. */
    const excused = new Set<string>();
    const find = (dataVolume: DataVolume, { slots }: State) => {
      const { uid, name, labels } = dataVolume.metadata;
      if (!slots || slots.has(labels?.[imageUidLabel] ?? '') || said.has(uid) || excused.has(uid)) return undefined;
      if (!isInFlight(dataVolume) || done.isDone(dataVolume)) return undefined;
      said.add(uid);
      return `DataVolume ${name} is in flight without a slot`;
    };
    for (const [, downloads] of state.downloads) for (const [, object] of downloads) said.add(object.metadata.uid);
    let leaseRevision = 0;
    return {
      download: (step) => {
        done.note(step);
        if (step.isGone) return undefined;
        // No write of the Lease stops a pass that is about to begin what it was granted before.
        const isLate = (step.change.since ?? step.revision) < leaseRevision;
        if (!step.before && (isLate || isByHand(step.change))) excused.add(step.object.metadata.uid);
        return find(step.object, step.state);
      },
      lease: (step) => {
        const all = [...step.state.downloads.values()].flatMap((downloads) => [...downloads.values()]);
        leaseRevision = step.revision;
        if (isByHand(step.change)) {
          for (const { metadata } of all) excused.add(metadata.uid);
          return undefined;
        }
        for (const { metadata } of all) {
          if (excused.has(metadata.uid) && isUnwanted(step.state, metadata.labels?.[imageUidLabel])) continue;
          if (step.change.since === undefined || wasThere(step, metadata.uid)) excused.delete(metadata.uid);
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
 * follow-sync deletes the downloads of the image. start-sync does not read them, so a slot that a user removed from the Lease stays
 * free. The audit of prune deletes restored downloads of an image that does not exist.
 */
const isUnwanted = ({ images }: State, uid = '') => !images.has(uid) || hasEnded(images.get(uid)?.status);

/** Whose slot this write of the Lease gave back although its pass could see an importer at work. */
function takenFrom(step: Step<Lease>): string[] {
  const { slotsBefore, state, change } = step;
  const given = [...(slotsBefore?.values() ?? [])].filter(({ uid }) => state.slots && !state.slots.has(uid));
  return given.flatMap(({ uid, image }) =>
    [...(state.pods.get(uid)?.values() ?? [])]
      .filter((pod) => {
        const leftMs = change.atMs - Date.parse(pod.metadata.deletionTimestamp ?? '');
        return isAtWork(pod) && !(leftMs >= stuckAfterMs - usualSkewMs) && wasThere(step, pod.metadata.uid);
      })
      .map(({ metadata }) => `the slot of ${image} was given back while importer ${metadata.name} is at work`),
  );
}
