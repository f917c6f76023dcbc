import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, State, Step } from './follow.ts';
import { grantOf } from './grant.ts';
import { isAtWork, isInFlight, rememberDone } from './in-flight.ts';
import { longestPassMs } from './pass.ts';
import { isReadable } from './plain-policy.ts';
import { readableFrom } from './policies.ts';
import { addedTo } from './slots-of.ts';
import { isByHand } from './writers.ts';

/**
 * S1, capacity: a write that gives a slot leaves no more holders than a limit that its pass may have read. A lowered limit
 * turns nobody out; a Lease that was lost is rebuilt with whoever downloads. The downloads that really run (a DataVolume in flight
 * that was never Succeeded, or a working importer) are no more than the highest limit while they ran. Not counted are the images of
 * a user who edited the Lease or a status, restored a backup or deleted by force (reliability §2; DESIGN §5).
 */
export const s1Capacity: Invariant = {
  number: 'S1',
  says: 'neither the slots nor the running downloads exceed the limit',
  judge: () => {
    const running = runningDownloads();
    return {
      image: running.image,
      download: running.download,
      pod: running.work,
      lease: (step) => {
        running.lease(step);
        const grant = grantOf(step);
        if (!grant) return undefined;
        const limits = readableFrom(step.state.policies, grant.began)
          .filter((policy) => isReadable(policy, 'concurrency'))
          .map(({ values }) => values.concurrency);
        const limit = Math.max(0, ...limits);
        if (grant.slots.size <= limit) return undefined;
        return `${grant.slots.size} hold slots, allowed were ${limit}; let in: ${grant.added.map(({ image }) => image).join(', ')}`;
      },
    };
  },
};

/** When something began: by its resourceVersion if that is known, else by the clock. */
interface Began {
  revision: number | undefined;
  ms: number;
}

/** The start of each image's download, and the images that a user changed meanwhile. */
function runningDownloads() {
  const since = new Map<string, Began>();
  const excused = new Set<string>();
  /** The start of the pass that gave each its slot. */
  const granted = new Map<string, Began>();
  const done = rememberDone();
  const runs = (uid: string, { downloads, pods }: State) =>
    [...(downloads.get(uid)?.values() ?? [])].some((one) => isInFlight(one) && !done.isDone(one)) ||
    [...(pods.get(uid)?.values() ?? [])].some(isAtWork);
  const work = (step: Step<DataVolume> | Step<Pod>) => {
    const { object, before, isGone, state, change, revision } = step;
    const uid = object.metadata.labels?.[imageUidLabel] ?? '';
    if (!runs(uid, state)) {
      since.delete(uid);
      excused.delete(uid);
      return undefined;
    }
    if (!since.has(uid)) since.set(uid, granted.get(uid) ?? { revision, ms: change.atMs });
    if (isByHand(change) && change.by === 'user') excused.add(uid);
    if (before || isGone) return undefined;
    const counted = [...since].filter(([one]) => !excused.has(one) && state.images.has(one)).map(([, began]) => began);
    const oldest = counted.sort((a, b) => a.ms - b.ms)[0] ?? { revision, ms: change.atMs };
    const limits = readableFrom(state.policies, oldest)
      .filter((policy) => isReadable(policy, 'concurrency'))
      .map(({ values }) => values.concurrency);
    const limit = Math.max(0, ...limits);
    return counted.length > limit ? `${counted.length} images download, allowed were ${limit}` : undefined;
  };
  return {
    work,
    download: (step: Step<DataVolume>) => {
      done.note(step);
      return work(step);
    },
    image: ({ object, before, isGone, change }: Step<VMDiskImage>) => {
      const isEdited = before && isByHand(change) && (isGone || before.status !== object.status);
      if (isEdited) excused.add(object.metadata.uid);
      return undefined;
    },
    lease: ({ change, state, slotsBefore }: Step<Lease>) => {
      const began = {
        revision: change.since === undefined ? undefined : change.since - 1,
        ms: change.atMs - longestPassMs,
      };
      for (const { uid } of state.slots ? addedTo(slotsBefore, state.slots) : []) granted.set(uid, began);
      if (isByHand(change) || !state.slots) for (const uid of since.keys()) excused.add(uid);
    },
  };
}
