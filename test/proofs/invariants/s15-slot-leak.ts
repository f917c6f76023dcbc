import { attemptLabel, imageUidLabel, revisionLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Invariant, State } from './follow.ts';
import { isAtWork, stuckAfterMs } from './in-flight.ts';
import { longestPassMs } from './pass.ts';
import type { Holder } from './slots-of.ts';

/**
 * S15, slot leak: a holder whose image is gone, deleted, at its end, waiting for its back-off or for another revision leaves
 * the Lease within a sweep and a pass of the moment that its last DataVolume and its importer are gone; the slot of an image that no
 * longer exists, within an audit and ten minutes more, whatever runs. If no Pod was recorded, an
 * importer may have lingered for ten minutes. From the time on that all is still; a history that never is has a minute more,
 * for whatever goes wrong meanwhile (reliability §2).
 */
export const s15SlotLeak: Invariant = {
  number: 'S15',
  says: 'a slot that nobody needs is given back within a sweep',
  judge: (state, { stillFromMs, sweepMs = 30_000, auditMs = 600_000, endMs }) => {
    const idleSince = new Map<string, number>();
    let hasPods = state.pods.size > 0;
    const withinMs = () =>
      sweepMs + longestPassMs + (hasPods ? 0 : stuckAfterMs) + (stillFromMs === undefined ? 60_000 : 0);
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
    const look = (uid: string, atMs: number) => {
      const holder = state.slots?.get(uid);
      if (!holder || isNeeded(holder, state)) idleSince.delete(uid);
      else if (!idleSince.has(uid)) idleSince.set(uid, atMs);
    };
    return {
      lease: ({ change, state: { slots } }) => {
        const says = late(change.atMs);
        for (const uid of idleSince.keys()) if (!slots?.has(uid)) idleSince.delete(uid);
        for (const uid of slots?.keys() ?? []) look(uid, change.atMs);
        return says;
      },
      image: ({ change, object }) => {
        const says = late(change.atMs);
        look(object.metadata.uid, change.atMs);
        return says;
      },
      download: ({ change, object }) => {
        const says = late(change.atMs);
        look(imageOf(object), change.atMs);
        return says;
      },
      pod: ({ change, object }) => {
        hasPods = true;
        const says = late(change.atMs);
        look(imageOf(object), change.atMs);
        return says;
      },
      end: () => {
        const says = late(endMs);
        return says ? [says] : [];
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
  if ([...(pods.get(uid)?.values() ?? [])].some(isAtWork)) return true;
  if (metadata.deletionTimestamp || status?.revision !== revision) return false;
  const { phase, attempt: newest = 0 } = status;
  const isDownloaded = mine.some(
    ({ metadata: { labels } }) =>
      labels?.[revisionLabel] === String(revision) && labels[attemptLabel] === String(attempt),
  );
  return (phase === 'Syncing' && newest === attempt && !isDownloaded) || (phase === 'Queued' && newest < attempt);
}
