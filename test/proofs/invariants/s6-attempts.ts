import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant } from './follow.ts';
import { longestPassMs } from './pass.ts';
import { isReadable } from './plain-policy.ts';
import { readableFrom } from './policies.ts';
import { isByHand } from './writers.ts';

interface Attempts {
  made: number;
  /** Those that never downloaded anything: they do not count against retryLimit. */
  uncounted: number;
  sinceRevision: number;
}

/**
 * S6, attempts: an image has at most retryLimit + 1 DataVolumes of a revision, over crashes and replays, by the highest limit
 * since the first of them; and once all is still no importer begins a third time longer after its second than a sweep and a pass,
 * for each time is paid for. Not counted are attempts that the status counts back (they never started), a DataVolume made again
 * whose importer existed for less than a sweep, a DataVolume that a hand made, as by a restore, and what was before a hand wiped
 * or reset the status. The download of an image that is being deleted, or does not exist, may go on until the next audit, which alone
 * finds a deletion without an event and what a backup restored without its image. Of the bytes no object tells (reliability §2; functions/follow-sync/README.md).
 */
export const s6Attempts: Invariant = {
  number: 'S6',
  says: 'a revision is downloaded at most retryLimit + 1 times',
  judge: (_, { stillFromMs = Number.POSITIVE_INFINITY, sweepMs = 30_000, auditMs = 600_000 }) => {
    const restarts = new Map<string, { count: number; sinceMs: number }>();
    /** Says so where an importer began again although that it did was to be seen for long enough. */
    const countRestarts = (uid: string, count: number, atMs: number, image: VMDiskImage | undefined) => {
      const before = restarts.get(uid);
      if (count <= (before?.count ?? 0)) return undefined;
      const sinceMs = before?.sinceMs ?? atMs;
      restarts.set(uid, { count, sinceMs });
      const { deletionTimestamp } = image?.metadata ?? {};
      const leavingMs = deletionTimestamp ? Date.parse(deletionTimestamp) : Number.NEGATIVE_INFINITY;
      const seenForMs = atMs - Math.max(sinceMs, stillFromMs, leavingMs);
      return before && seenForMs > (deletionTimestamp || !image ? auditMs : sweepMs) + longestPassMs
        ? `an importer began again ${seenForMs} ms after the first time that it did`
        : undefined;
    };
    const all = new Map<string, Attempts>();
    const ofRevision = (uid: string, revision: string, sinceRevision: number) => {
      const key = `${uid} ${revision}`;
      const found = all.get(key) ?? { made: 0, uncounted: 0, sinceRevision };
      all.set(key, found);
      return found;
    };
    /** The time for which each DataVolume had an importer, by image and name. */
    const paid = new Map<string, number>();
    const importedFrom = new Map<string, number>();
    return {
      pod: ({ object: { metadata, status }, before: known, change, state }) => {
        const uid = metadata.labels?.[imageUidLabel] ?? '';
        if (!known && !importedFrom.has(uid)) importedFrom.set(uid, change.atMs);
        return countRestarts(
          metadata.uid,
          Math.max(0, ...(status?.containerStatuses ?? []).map((one) => one.restartCount)),
          change.atMs,
          state.images.get(uid),
        );
      },
      download: ({ object: { metadata, status: said }, before, isGone, state, revision, change }) => {
        const { [imageUidLabel]: uid = '', [revisionLabel]: of = '', [attemptLabel]: attempt } = metadata.labels ?? {};
        const image = state.images.get(uid);
        if (isGone) {
          const fromMs = importedFrom.get(uid);
          paid.set(`${uid} ${metadata.name}`, fromMs === undefined ? 0 : change.atMs - fromMs);
          importedFrom.delete(uid);
        }
        if (before) return countRestarts(metadata.uid, said?.restartCount ?? 0, change.atMs, image);
        if (isGone || attempt === undefined || isByHand(change)) return undefined;
        const attempts = ofRevision(uid, of, revision);
        const status = image?.status;
        const isWanted = status?.phase === 'Syncing' && String(status.attempt) === attempt && !status.dataVolume;
        // A DataVolume whose importer existed too briefly to be observed may be made again.
        const paidMs = paid.get(`${uid} ${metadata.name}`);
        if (paidMs !== undefined && isWanted && paidMs <= sweepMs + longestPassMs) return undefined;
        paid.set(`${uid} ${metadata.name}`, 0);
        attempts.made += 1;
        const limits = readableFrom(state.policies, { revision: attempts.sinceRevision - 1, ms: 0 })
          .filter((policy) => isReadable(policy, 'retryLimit'))
          .map(({ values }) => values.retryLimit);
        const allowed = Math.max(0, ...limits) + 1 + attempts.uncounted;
        if (attempts.made <= allowed) return undefined;
        return `DataVolume ${metadata.name} is number ${attempts.made} of its revision, allowed were ${allowed}`;
      },
      image: ({ object: { metadata, status }, before, revision, change }) => {
        const { phase, attempts = 0, revision: of } = before?.status ?? {};
        if (!phase || (status?.phase && status.revision !== of) || (status?.attempts ?? 0) >= attempts)
          return undefined;
        const found = ofRevision(metadata.uid, String(of), revision);
        if (phase === 'Syncing' && status?.phase) found.uncounted += 1;
        else if (change.by === undefined || isByHand(change)) found.made = 0;
        return undefined;
      },
    };
  },
};
