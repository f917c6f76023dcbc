import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { attemptLabel, imageUidLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import type { Invariant } from './follow.ts';
import { grantOf, isByStartSync } from './grant.ts';
import { slotsAnnotation } from './plain-rules.ts';
import { isExternal } from './writers.ts';

/**
 * S3, identity: a slot belongs to the uid of an image that existed under that name, and a uid has one slot. A DataVolume belongs
 * to the image whose uid is in its label. A new image has only the attempts of its own DataVolumes, so it inherits nothing from
 * an earlier image of the same name. What a user writes, for example by restoring a backup, is not judged.
 */
export const s3Identity: Invariant = {
  number: 'S3',
  rule: 'slots, DataVolumes and attempts belong to a uid',
  judge: (state) => {
    const names = new Map([...state.images.values()].map(({ metadata }) => [metadata.uid, keyOf(metadata)]));
    const attempts = new Map<string, number>();
    const noteAttempt = (labels: Record<string, string> | undefined) => {
      const uid = labels?.[imageUidLabel] ?? '';
      attempts.set(uid, Math.max(attempts.get(uid) ?? 0, Number(labels?.[attemptLabel]) || 0));
    };
    for (const [, downloads] of state.downloads) for (const [, { metadata }] of downloads) noteAttempt(metadata.labels);
    return {
      lease: (step) => {
        const twice = isByStartSync(step) ? twiceIn(step.object) : undefined;
        if (twice) return `${twice} holds two slots`;
        const stranger = grantOf(step)?.added.find(({ uid, image }) => names.get(uid) !== image);
        return stranger && `uid ${stranger.uid} got a slot as ${stranger.image}, which never had that uid`;
      },
      download: ({ object: { metadata }, before, change }) => {
        if (before || change.type === 'DELETED') return undefined;
        noteAttempt(metadata.labels);
        if (isExternal(change)) return undefined;
        const owner = metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
        const uid = metadata.labels?.[imageUidLabel];
        if (owner === uid || metadata.labels?.[attemptLabel] === undefined) return undefined;
        return `DataVolume ${metadata.name} carries uid ${uid} and belongs to ${owner ?? 'no image'}`;
      },
      image: ({ object: { metadata, status }, before, isGone, change }) => {
        names.set(metadata.uid, keyOf(metadata));
        if (isGone || isExternal(change) || !before || before.status?.phase || !status?.phase) return undefined;
        const made = attempts.get(metadata.uid) ?? 0;
        const recorded = Math.max(status.attempts ?? 0, status.attempt ?? 0);
        return recorded > made ? `${metadata.name} begins with ${recorded} attempts, its own are ${made}` : undefined;
      },
    };
  },
};

/** A uid that occurs twice, even if that makes the Lease unreadable. */
function twiceIn({ metadata }: Lease): string | undefined {
  const uids = [...(metadata.annotations?.[slotsAnnotation] ?? '').matchAll(/"uid":"([^"]+)"/g)].map(([, uid]) => uid);
  return uids.find((uid, index) => uids.indexOf(uid) !== index);
}
