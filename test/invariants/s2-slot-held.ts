import type { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { imageUidLabel } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Invariant, State } from './follow.ts';
import { isInFlight, rememberDone } from './in-flight.ts';
import { isByHand } from './writers.ts';

/**
 * S2, a DataVolume in flight has a slot: neither Succeeded nor Failed nor being deleted. Nobody is judged while the Lease is
 * missing or cannot be read, which only a hand brings about; as soon as it is there again everybody is (reliability §2, L4).
 * What a hand takes out of a Lease that can be read is L4's.
 */
export const s2SlotHeld: Invariant = {
  number: 'S2',
  says: 'a DataVolume in flight has a slot',
  judge: (state) => {
    const done = rememberDone();
    const said = new Set<string>();
    /** Whose slot a hand took away, until start-sync writes the Lease again: its compare-and-swap has seen the edit. */
    const excused = new Set<string>();
    const find = (dataVolume: DataVolume, { slots }: State) => {
      const { uid, name, labels } = dataVolume.metadata;
      if (!slots || slots.has(labels?.[imageUidLabel] ?? '') || said.has(uid) || excused.has(uid)) return undefined;
      if (!isInFlight(dataVolume) || done.isDone(dataVolume)) return undefined;
      said.add(uid);
      return `DataVolume ${name} is in flight without a slot`;
    };
    for (const [, downloads] of state.downloads) for (const [, object] of downloads) said.add(object.metadata.uid);
    return {
      download: (step) => {
        done.note(step);
        return step.isGone ? undefined : find(step.object, step.state);
      },
      lease: ({ state: after, change }) => {
        if (isByHand(change)) {
          for (const downloads of after.downloads.values()) for (const uid of downloads.keys()) excused.add(uid);
          return undefined;
        }
        excused.clear();
        const found = [...after.downloads.values()].flatMap((downloads) =>
          [...downloads.values()].map((dataVolume) => find(dataVolume, after)).filter((one) => one !== undefined),
        );
        return found.length > 0 ? found.join('; ') : undefined;
      },
    };
  },
};
