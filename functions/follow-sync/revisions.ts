import {
  imageUidLabel,
  revisionLabel,
  useRevision,
  type VMDiskImageStatus,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/rules/conditions.ts';
import { contentDigest } from '../../shared/rules/content-digest.ts';
import { snapshotName } from '../../shared/rules/names.ts';
import { withoutQuery } from '../../shared/rules/sources.ts';
import { toTime } from '../../shared/rules/time.ts';
import type { Observed } from './observed.ts';
import { isUsable } from './snapshot.ts';

export type Revision = NonNullable<VMDiskImageStatus['revisions']>[number];
type Snapshot = NonNullable<VMDiskImageStatus['snapshot']>;

/** The revisions that came to a snapshot, newest first; where the status has no list, the usable snapshots tell. */
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

/** Those that one can go back to. A snapshot that was adopted carries no label of ours, so that no list has it. */
export const usableRevisions = (observed: Observed) =>
  revisionsOf(observed).filter(({ revision, snapshot }) => {
    const found = observed.snapshots.find(({ metadata }) => metadata.name === snapshot);
    return found ? isUsable(found) : snapshot !== snapshotName(observed.image.metadata, revision);
  });

/** Those whose snapshots stay: the newest, as many as the policy's keepRevisions, and the one that is used. */
export function keptRevisions(observed: Observed): readonly Revision[] {
  const used = observed.image.status?.snapshot?.revision;
  const { keepRevisions } = observed.policy.values;
  return usableRevisions(observed).filter(({ revision }, place) => place < keepRevisions || revision === used);
}

/** What machines are cloned from: the snapshot as the status names it. */
export const heldBy = ({ metadata, status }: VolumeSnapshot, revision: number): Snapshot => ({
  name: metadata.name,
  revision,
  ...(status?.restoreSize ? { restoreSize: status.restoreSize } : {}),
});

/** The annotation has the image use another revision than its newest, or this one whatever comes. */
export const isPinned = ({ image }: Observed) =>
  conditionOf(image.status?.conditions, 'RevisionPinned')?.status === 'True';

/** The revision has come to this snapshot: it is in the list, and used unless another is pinned. */
export function completed(observed: Observed, snapshot: VolumeSnapshot) {
  const { image, nowMs } = observed;
  const { revision = 1, contentDigest: downloaded, adoption, snapshot: used } = image.status ?? {};
  const completedAt = toTime(nowMs);
  const isDownload = downloaded === contentDigest(image) && adoption?.revision !== revision;
  const url = isDownload ? { url: withoutQuery(image.spec.url) } : {};
  const others = revisionsOf(observed).filter((other) => other.revision !== revision);
  const revisions = [{ revision, snapshot: snapshot.metadata.name, completedAt, ...url }, ...others].slice(
    0,
    mostListed,
  );
  const isOther = isPinned(observed) && used !== undefined && used.revision !== revision;
  const stays = isOther ? ` Revision ${used.revision} is used until annotation ${useRevision} is removed.` : '';
  return { stays, fields: { completedAt, revisions, ...(stays ? {} : { snapshot: heldBy(snapshot, revision) }) } };
}

/** As many as the schema takes. */
const mostListed = 20;
