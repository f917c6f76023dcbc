import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant } from './follow.ts';
import { isReadable } from './plain-policy.ts';
import { readableFrom } from './policies.ts';
import { longestReconcileMs } from './reconcile.ts';
import { isExternal } from './writers.ts';

interface Attempts {
  made: number;
  /** Attempts that never downloaded anything: they do not count against retryLimit. */
  uncounted: number;
  sinceRevision: number;
}

/**
 * S6, attempts: a revision gets at most retryLimit + 1 DataVolumes, across crashes and replays, by the highest limit since the first of
 * them. Once the faults have ended, an importer that restarted does not restart later than a sweep and a reconcile after that, because
 * every restart downloads again. Not counted: attempts that the status does not count (they never started); a DataVolume created again
 * whose importer existed for less than a sweep, by a reconcile that began before the status named it; a DataVolume that a user created; and
 * everything before a user wiped or reset the status. If the image is being deleted or does not exist, the importer has until the next
 * audit, which alone finds it. Bytes are not judged: no object records them.
 */
export const s6Attempts: Invariant = {
  number: 'S6',
  rule: 'a revision is downloaded at most retryLimit + 1 times',
  judge: (_, { stillFromMs = Number.POSITIVE_INFINITY, sweepMs = 30_000, auditMs = 600_000 }) => {
    const restarts = new Map<string, { count: number; sinceMs: number }>();
    /** Reports an importer that restarted although follow-sync had long enough to see an earlier restart. */
    const countRestarts = (uid: string, count: number, atMs: number, image: VMDiskImage | undefined) => {
      const before = restarts.get(uid);
      if (count <= (before?.count ?? 0)) return undefined;
      const sinceMs = before?.sinceMs ?? atMs;
      restarts.set(uid, { count, sinceMs });
      const { deletionTimestamp } = image?.metadata ?? {};
      const leavingMs = deletionTimestamp ? Date.parse(deletionTimestamp) : Number.NEGATIVE_INFINITY;
      const seenForMs = atMs - Math.max(sinceMs, stillFromMs, leavingMs);
      return before && seenForMs > (deletionTimestamp || !image ? auditMs : sweepMs) + longestReconcileMs
        ? `an importer restarted ${seenForMs} ms after its first restart`
        : undefined;
    };
    const all = new Map<string, Attempts>();
    const ofRevision = (uid: string, revision: string, sinceRevision: number) => {
      const key = `${uid} ${revision}`;
      const found = all.get(key) ?? { made: 0, uncounted: 0, sinceRevision };
      all.set(key, found);
      return found;
    };
    /** A status that a user wiped is rebuilt from the objects that still exist, so that an earlier revision may begin again. */
    const forget = (uid: string): undefined => {
      for (const [key, found] of all) if (key.startsWith(`${uid} `)) found.made = 0;
    };
    /** The time for which each DataVolume had an importer, by image and name. */
    const paid = new Map<string, number>();
    const importedFrom = new Map<string, number>();
    /** The resourceVersion at which the status named each DataVolume, by image and name. */
    const named = new Map<string, number>();
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
      download: ({ object: { metadata, status: own }, before, isGone, state, revision, change }) => {
        const { [imageUidLabel]: uid = '', [revisionLabel]: of = '', [attemptLabel]: attempt } = metadata.labels ?? {};
        const image = state.images.get(uid);
        if (isGone) {
          const fromMs = importedFrom.get(uid);
          paid.set(`${uid} ${metadata.name}`, fromMs === undefined ? 0 : change.atMs - fromMs);
          importedFrom.delete(uid);
        }
        if (before) return countRestarts(metadata.uid, own?.restartCount ?? 0, change.atMs, image);
        if (isGone || attempt === undefined || isExternal(change)) return undefined;
        const attempts = ofRevision(uid, of, revision);
        const status = image?.status;
        const { since = revision } = change;
        const isNamed = status?.dataVolume !== undefined && (named.get(`${uid} ${metadata.name}`) ?? 0) <= since;
        const isWanted = status?.phase === 'Syncing' && String(status.attempt) === attempt && !isNamed;
        // A DataVolume whose importer existed too briefly to be observed may be created again.
        const paidMs = paid.get(`${uid} ${metadata.name}`);
        if (paidMs !== undefined && isWanted && paidMs <= sweepMs + longestReconcileMs) return undefined;
        paid.set(`${uid} ${metadata.name}`, 0);
        attempts.made += 1;
        const limits = readableFrom(state.policies, { revision: attempts.sinceRevision - 1, ms: 0 })
          .filter((policy) => isReadable(policy, 'retryLimit'))
          .map(({ values }) => values.retryLimit);
        const allowed = Math.max(0, ...limits) + 1 + attempts.uncounted;
        if (attempts.made <= allowed) return undefined;
        return `DataVolume ${metadata.name} is number ${attempts.made} of its revision, ${allowed} allowed`;
      },
      image: ({ object: { metadata, status }, before, revision, change }) => {
        if (status?.dataVolume && status.dataVolume !== before?.status?.dataVolume)
          named.set(`${metadata.uid} ${status.dataVolume}`, revision);
        if (!before?.status?.phase) return undefined;
        const { phase, attempts = 0, revision: of } = before.status;
        const isByUser = change.by === undefined || isExternal(change);
        if (!status?.phase) return isByUser ? forget(metadata.uid) : undefined;
        if (status.revision !== of || (status.attempts ?? 0) >= attempts) return undefined;
        const found = ofRevision(metadata.uid, String(of), revision);
        if (phase === 'Syncing') found.uncounted += 1;
        else if (isByUser) found.made = 0;
        return undefined;
      },
    };
  },
};
