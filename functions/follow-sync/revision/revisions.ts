import { snapshotName } from '../../../shared/images/children.ts';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import { redactUrl } from '../../../shared/images/sources.ts';
import {
  imageUidLabel,
  revisionLabel,
  useRevision,
  type VMDiskImageStatus,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Observed } from '../observed.ts';
import { isOf, isUsable } from '../snapshot/snapshot.ts';

export type Revision = NonNullable<VMDiskImageStatus['revisions']>[number];
type Snapshot = NonNullable<VMDiskImageStatus['snapshot']>;

/** The revisions that have a snapshot, newest first. If the status has no list, they are derived from the usable snapshots. */
export function revisionsOf({ image, snapshots }: Observed): readonly Revision[] {
  const { revisions, snapshot } = image.status ?? {};
  if (revisions) return revisions;
  const cut = snapshots
    .filter((found) => isUsable(found) && found.metadata.labels?.[imageUidLabel] === image.metadata.uid)
    .map(({ metadata }) => ({ revision: Number(metadata.labels?.[revisionLabel]) || 1, snapshot: metadata.name }));
  const others = cut.filter(({ revision }) => revision !== snapshot?.revision);
  const used = snapshot ? [{ revision: snapshot.revision, snapshot: snapshot.name }] : [];
  return [...used, ...others].sort((a, b) => b.revision - a.revision);
}

/** The revisions that a user can go back to; while an annotation asks for one, every snapshot that the list names was read. */
export const usableRevisions = (observed: Observed) =>
  revisionsOf(observed).filter((one) => {
    const found = snapshotOf(observed, one);
    return found !== undefined && isUsable(found);
  });

/**
 * The revisions whose snapshots are kept: the newest `keepRevisions` of the policy, and the revision in use. An adopted snapshot
 * carries no label of ours, so no list has it: it counts without having been read.
 */
export function keptRevisions(observed: Observed): readonly Revision[] {
  const used = observed.image.status?.snapshot?.revision;
  const { keepRevisions } = observed.policy.values;
  const isThere = (one: Revision) => {
    const found = snapshotOf(observed, one);
    return found ? isUsable(found) : isAdopted(observed, one);
  };
  return revisionsOf(observed)
    .filter(isThere)
    .filter(({ revision }, place) => place < keepRevisions || revision === used);
}

/** The snapshot of the revision; not another user's snapshot of that name. */
export const snapshotOf = ({ image, snapshots }: Observed, { snapshot }: Revision) =>
  snapshots.find((found) => found.metadata.name === snapshot && isOf(image, found));

const isAdopted = ({ image }: Observed, { revision, snapshot }: Revision) =>
  snapshot !== snapshotName(image.metadata, revision);

/** The snapshot that machines are cloned from, as `status.snapshot` names it. */
export const heldBy = ({ metadata, status }: VolumeSnapshot, revision: number): Snapshot => ({
  name: metadata.name,
  revision,
  ...(status?.restoreSize ? { restoreSize: status.restoreSize } : {}),
});

/** The annotation pins the revision in use, whether it is the newest or not. */
export const isPinned = ({ image }: Observed) =>
  conditionOf(image.status?.conditions, 'RevisionPinned')?.status === 'True';

/** The status fields once the revision has this snapshot: it is listed, and used unless another is pinned. */
export function completed(observed: Observed, snapshot: VolumeSnapshot) {
  const { image, nowMs } = observed;
  const { revision = 1, contentDigest: downloaded, adoption, snapshot: used } = image.status ?? {};
  const completedAt = toTime(nowMs);
  const isDownload = downloaded === contentDigest(image) && adoption?.revision !== revision;
  const url = isDownload ? { url: redactUrl(image.spec.url) } : {};
  const others = revisionsOf(observed).filter((other) => other.revision !== revision);
  const revisions = [{ revision, snapshot: snapshot.metadata.name, completedAt, ...url }, ...others].slice(
    0,
    mostListed,
  );
  const isOther = isPinned(observed) && used !== undefined && used.revision !== revision;
  const stays = isOther ? ` Revision ${used.revision} is used until annotation ${useRevision} is removed.` : '';
  return { stays, fields: { completedAt, revisions, ...(stays ? {} : { snapshot: heldBy(snapshot, revision) }) } };
}

/** The limit in the schema. */
const mostListed = 20;
