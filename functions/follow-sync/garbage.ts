import type { Action } from '../../shared/actions.ts';
import { isAdopted } from '../../shared/images/adoption.ts';
import { snapshotName } from '../../shared/images/children.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { isValid } from '../../shared/policy.ts';
import { traceOfImage } from '../../shared/traces.ts';
import { isDownloaded, type Observed } from './observed.ts';
import { keptRevisions } from './revision/revisions.ts';
import { ifUnchanged, isCutFrom, isUsable, removeSnapshots } from './snapshot/snapshot.ts';

/** Deletes volumes of earlier attempts, the source volume once its snapshot is ready, and snapshots of revisions that are not kept. */
export const garbage = (observed: Observed): Action[] => [
  ...garbageVolumes(observed),
  ...unknownVolumes(observed),
  ...oldSnapshots(observed),
];

/** The volumes alone, whose deletion needs no write of the status before it. */
export const garbageVolumes = (observed: Observed): Action[] =>
  observed.dataVolumes
    .filter((dataVolume) => !dataVolume.metadata.deletionTimestamp && isObsolete(observed, dataVolume))
    .map((dataVolume) => remove(observed.image, dataVolume));

/**
 * The DataVolumes of later attempts than the status has: a process was about to create one when a user removed the status, and another
 * process rebuilt that without it.
 */
function unknownVolumes(observed: Observed): Action[] {
  const { image, dataVolumes } = observed;
  if (image.status?.phase !== 'Succeeded' || !hasUsableSnapshot(observed)) return [];
  const unknown = dataVolumes.filter((one) => !one.metadata.deletionTimestamp && orderOf(image, one) > 0);
  return unknown.length === 0 ? [] : [ifUnchanged(image), ...unknown.map((one) => remove(image, one))];
}

/** Unless the snapshot in use is observed to be usable, any other copy may be the last. */
const hasUsableSnapshot = ({ image, snapshots }: Observed) =>
  snapshots.some((found) => found.metadata.name === image.status?.snapshot?.name && isUsable(found));

/** Only the image's own snapshots: an adopted snapshot is deleted only if it carries the image's label. */
function oldSnapshots(observed: Observed): Action[] {
  const { image, snapshots, policy } = observed;
  const { phase, revision = 1, snapshot: used } = image.status ?? {};
  if (phase !== 'Succeeded' || !hasUsableSnapshot(observed) || !isValid(policy, 'keepRevisions')) return [];
  const revisions = keptRevisions(observed);
  const stays = [used?.name, snapshotName(image.metadata, revision), ...revisions.map(({ snapshot }) => snapshot)];
  const old = snapshots.filter(
    ({ metadata: { name, labels, deletionTimestamp } }) =>
      labels?.[imageUidLabel] === image.metadata.uid && !stays.includes(name) && !deletionTimestamp,
  );
  return removeSnapshots(image, old, { revisions });
}

function isObsolete({ image, policy, snapshots }: Observed, dataVolume: DataVolume): boolean {
  const { phase } = image.status ?? {};
  const order = orderOf(image, dataVolume);
  // Most likely made after this image was read: the next reconcile sees both.
  if (order > 0) return false;
  if (order < 0) return true;
  if (phase === 'Succeeded') {
    // Without a snapshot that is observed to be usable, the volume is the last copy.
    const isCopied = snapshots.some(
      (found) => isUsable(found) && isCutFrom(found, dataVolume, dataVolume.metadata.name),
    );
    return isCopied && !policy.values.retainSourceVolume && isValid(policy, 'retainSourceVolume');
  }
  // A downloaded volume is kept even if the status does not report it: a user may have edited the status.
  // CDI removes the phase while it cannot read its configuration.
  if (phase === 'Failed' && image.status?.snapshottingAt)
    return !['Succeeded', ''].includes(dataVolume.status?.phase ?? '');
  if (phase === 'Failed') return !isDownloaded(dataVolume);
  return phase === 'Retrying' || phase === 'Queued';
}

/** Below 0 if it was made for an earlier attempt than the status has, above 0 for a later one. */
function orderOf(image: VMDiskImage, dataVolume: DataVolume): number {
  const { revision = 0, attempt = 0 } = image.status ?? {};
  const byRevision = numberOf(dataVolume, revisionLabel) - revision;
  // An adopted revision has no attempts: a DataVolume of its number is from before the status was lost.
  return byRevision || (isAdopted(image) ? -1 : numberOf(dataVolume, attemptLabel) - attempt);
}

/** Deletes the DataVolume of an attempt, only as it was observed: its download may have ended since. */
export const remove = (image: VMDiskImage, dataVolume: DataVolume): Action => ({
  do: 'delete',
  resource: DataVolume,
  of: dataVolume,
  unchanged: true,
  trace: traceOfImage(image),
});

const numberOf = (object: DataVolume, label: string) => Number(object.metadata.labels?.[label] ?? 0);
