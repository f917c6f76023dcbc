import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, State, Step } from './follow.ts';
import { type Grant, grantOf } from './grant.ts';
import { isInFlight, mayDownload, rememberDone } from './in-flight.ts';
import { isReadable, type Policy } from './plain-policy.ts';
import { readableFrom } from './policies.ts';
import { longestReconcileMs } from './reconcile.ts';
import { addedTo, slotsIn } from './slots-of.ts';
import { isExternal } from './writers.ts';

/**
 * S1, capacity: no write of the Lease assigns more slots than `concurrency`, or more than `slotsPerNamespace` to one namespace, and no more images download at once. An image
 * downloads if it has a DataVolume in flight or an unfinished importer Pod. The limit is the highest that the policy had since
 * the reconcile (for downloads: the oldest running one) began. Lowering it ends no download, and a lost Lease is rebuilt with all
 * running downloads. Images whose Lease entry or status a user edited, restored or deleted by force are not counted.
 */
export const s1Capacity: Invariant = {
  number: 'S1',
  rule: 'slots and running downloads do not exceed the limit',
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
        const policies = readableFrom(step.state.policies, grant.began);
        const limits = policies
          .filter((policy) => isReadable(policy, 'concurrency'))
          .map(({ values }) => values.concurrency);
        const limit = Math.max(0, ...limits);
        if (grant.slots.size <= limit) return crowded(grant, policies);
        return `${grant.slots.size} hold slots, ${limit} allowed; added: ${grant.added.map(({ image }) => image).join(', ')}`;
      },
    };
  },
};

/** A namespace that holds more slots than `slotsPerNamespace` after this grant. */
function crowded({ slots, added }: Grant, policies: readonly Policy[]): string | undefined {
  const limits = policies
    .filter((policy) => isReadable(policy, 'slotsPerNamespace'))
    .map(({ values }) => values.slotsPerNamespace);
  const limit = Math.max(0, ...limits);
  for (const { image } of added) {
    const [namespace = ''] = image.split('/');
    const held = slotsIn(slots, namespace);
    if (held > limit) return `namespace ${namespace} holds ${held} slots, ${limit} allowed; added: ${image}`;
  }
  return undefined;
}

/** When something began: its resourceVersion if known, else by the clock. */
interface Began {
  revision: number | undefined;
  ms: number;
}

/** When each image began to download, and the images that a user changed meanwhile. */
function runningDownloads() {
  const since = new Map<string, Began>();
  const excused = new Set<string>();
  /** The start of the reconcile that assigned each slot. */
  const granted = new Map<string, Began>();
  const done = rememberDone();
  const runs = (uid: string, { downloads, pods }: State) =>
    [...(downloads.get(uid)?.values() ?? [])].some((one) => isInFlight(one) && !done.isDone(one)) ||
    [...(pods.get(uid)?.values() ?? [])].some(mayDownload);
  const work = (step: Step<DataVolume> | Step<Pod>) => {
    const { object, before, isGone, state, change, revision } = step;
    const uid = object.metadata.labels?.[imageUidLabel] ?? '';
    if (!runs(uid, state)) {
      since.delete(uid);
      excused.delete(uid);
      return undefined;
    }
    if (!since.has(uid)) since.set(uid, granted.get(uid) ?? { revision, ms: change.atMs });
    if (isExternal(change) && change.by === 'user') excused.add(uid);
    if (before || isGone) return undefined;
    const counted = [...since].filter(([one]) => !excused.has(one) && state.images.has(one)).map(([, began]) => began);
    const oldest = counted.sort((a, b) => a.ms - b.ms)[0] ?? { revision, ms: change.atMs };
    const limits = readableFrom(state.policies, oldest)
      .filter((policy) => isReadable(policy, 'concurrency'))
      .map(({ values }) => values.concurrency);
    const limit = Math.max(0, ...limits);
    return counted.length > limit ? `${counted.length} images download, ${limit} allowed` : undefined;
  };
  return {
    work,
    download: (step: Step<DataVolume>) => {
      done.note(step);
      return work(step);
    },
    image: ({ object, before, isGone, change }: Step<VMDiskImage>) => {
      const isEdited = before && isExternal(change) && (isGone || before.status !== object.status);
      if (isEdited) excused.add(object.metadata.uid);
      return undefined;
    },
    lease: (step: Step<Lease>) => {
      const { change, state, slotsBefore } = step;
      const began = {
        revision: change.since === undefined ? undefined : change.since - 1,
        ms: change.atMs - longestReconcileMs,
      };
      const assigned = new Set(grantOf(step)?.added.map(({ uid }) => uid));
      for (const { uid } of state.slots ? addedTo(slotsBefore, state.slots) : []) {
        // An attempt that gets its slot back, because the Lease was lost or edited, is not a new one.
        if (assigned.has(uid) || !granted.has(uid)) granted.set(uid, began);
      }
      if (isExternal(change) || !state.slots) for (const uid of since.keys()) excused.add(uid);
    },
  };
}
