import { attemptLabel, imageUidLabel, revisionLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Invariant, State } from './follow.ts';
import { mayDownload, stuckAfterMs } from './in-flight.ts';
import { longestReconcileMs } from './reconcile.ts';
import type { Holder } from './slots-of.ts';

/**
 * S15, slot leak: if the image of a slot is deleted, finished, in back-off or at another revision, the slot is released within a
 * sweep and a reconcile after its last DataVolume and importer Pod ended. If Pods were not recorded, an importer may have run for
 * ten minutes more. If the image does not exist, the slot is released within an audit and ten minutes more, whatever runs. Time
 * counts from the end of the faults; a history in which they never end has a minute more.
 */
export const s15SlotLeak: Invariant = {
  number: 'S15',
  rule: 'a slot that is not needed is released within a sweep',
  judge: (state, { stillFromMs, sweepMs = 30_000, auditMs = 600_000, endMs }) => {
    const idleSince = new Map<string, number>();
    let hasPods = state.pods.size > 0;
    const withinMs = () =>
      sweepMs + longestReconcileMs + (hasPods ? 0 : stuckAfterMs) + (stillFromMs === undefined ? 60_000 : 0);
    const late = (nowMs: number) => {
      for (const [uid, sinceMs] of idleSince) {
        const fromMs = Math.max(sinceMs, stillFromMs ?? sinceMs);
        // An audit finds objects that a backup restored without their image.
        if (nowMs - fromMs <= withinMs() + (state.images.has(uid) ? 0 : strayAfterMs + auditMs)) continue;
        idleSince.delete(uid);
        const { image } = state.slots?.get(uid) ?? {};
        return `the slot of ${image ?? uid} has been idle for ${nowMs - fromMs} ms`;
      }
      return undefined;
    };
    const update = (uid: string, atMs: number) => {
      const holder = state.slots?.get(uid);
      if (!holder || isNeeded(holder, state)) idleSince.delete(uid);
      else if (!idleSince.has(uid)) idleSince.set(uid, atMs);
    };
    return {
      lease: ({ change, state: { slots } }) => {
        const message = late(change.atMs);
        for (const uid of idleSince.keys()) if (!slots?.has(uid)) idleSince.delete(uid);
        for (const uid of slots?.keys() ?? []) update(uid, change.atMs);
        return message;
      },
      image: ({ change, object }) => {
        const message = late(change.atMs);
        update(object.metadata.uid, change.atMs);
        return message;
      },
      download: ({ change, object }) => {
        const message = late(change.atMs);
        update(imageOf(object), change.atMs);
        return message;
      },
      pod: ({ change, object }) => {
        hasPods = true;
        const message = late(change.atMs);
        update(imageOf(object), change.atMs);
        return message;
      },
      end: () => {
        const message = late(endMs);
        return message ? [message] : [];
      },
    };
  },
};

/** A restore may create an image later than its objects. */
const strayAfterMs = 10 * 60_000;

const imageOf = ({ metadata }: KubernetesObject) => metadata.labels?.[imageUidLabel] ?? '';

function isNeeded({ uid, revision, attempt }: Holder, { images, downloads, pods }: State): boolean {
  const { metadata, status } = images.get(uid) ?? {};
  const mine = [...(downloads.get(uid)?.values() ?? [])];
  // A download for an image that does not exist is not needed; a terminating importer still counts.
  if (!metadata)
    return [...(pods.get(uid)?.values() ?? [])].some((pod) => pod.metadata.deletionTimestamp !== undefined);
  if (mine.some((found) => found.status?.phase !== 'Succeeded')) return true;
  if ([...(pods.get(uid)?.values() ?? [])].some(mayDownload)) return true;
  if (metadata.deletionTimestamp || status?.revision !== revision) return false;
  const { phase, attempt: newest = 0 } = status;
  const isDownloaded = mine.some(
    ({ metadata: { labels } }) =>
      labels?.[revisionLabel] === String(revision) && labels[attemptLabel] === String(attempt),
  );
  return (phase === 'Syncing' && newest === attempt && !isDownloaded) || (phase === 'Queued' && newest < attempt);
}
