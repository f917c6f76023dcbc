import { type DataVolume, DataVolume as DataVolumeKind } from '../../shared/resources/cdi/data-volume.ts';
import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
  VMDiskImage as VMDiskImageKind,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { traceOf } from '../../shared/rules/image-status.ts';
import { snapshotName } from '../../shared/rules/names.ts';
import { isValid } from '../../shared/rules/policy.ts';
import { isDownloaded, type Observed } from './observed.ts';
import { keptRevisions } from './revisions.ts';
import { isCutFrom, isUsable, removeSnapshot } from './snapshot.ts';

/** Volumes of earlier attempts, the source volume once its snapshot is ready, snapshots of revisions that are not kept. */
export function leftovers(observed: Observed): Action[] {
  const { image, dataVolumes } = observed;
  return [
    ...dataVolumes
      .filter((dataVolume) => !dataVolume.metadata.deletionTimestamp && isLeftOver(observed, dataVolume))
      // As it was observed: it may have been downloaded since.
      .map((dataVolume) => ({ ...remove(image, dataVolume), unchanged: true })),
    ...oldSnapshots(observed),
  ];
}

/** The image's own: a snapshot that was adopted is deleted only where it carries its label. */
function oldSnapshots(observed: Observed): Action[] {
  const { image, snapshots, policy } = observed;
  const { phase, revision = 1, snapshot: used } = image.status ?? {};
  // As long as the one that is used is not seen to be usable, any other may be the last copy.
  const isUsed = snapshots.some((found) => found.metadata.name === used?.name && isUsable(found));
  if (phase !== 'Succeeded' || !isUsed || !isValid(policy, 'keepRevisions')) return [];
  const revisions = keptRevisions(observed);
  const stays = [used?.name, snapshotName(image.metadata, revision), ...revisions.map(({ snapshot }) => snapshot)];
  const old = snapshots.filter(
    ({ metadata: { name, labels, deletionTimestamp } }) =>
      labels?.[imageUidLabel] === image.metadata.uid && !stays.includes(name) && !deletionTimestamp,
  );
  if (old.length === 0) return [];
  // Refused where the image was moved since it was read: a snapshot may be of a later revision.
  const listed: Action = { do: 'patchStatus', resource: VMDiskImageKind, of: image, status: { revisions } };
  return [{ ...listed, trace: traceOf(image) }, ...old.map((found) => removeSnapshot(image, found))];
}

function isLeftOver({ image, policy, snapshots }: Observed, dataVolume: DataVolume): boolean {
  const { phase, revision = 0, attempt = 0 } = image.status ?? {};
  const order = numberOf(dataVolume, revisionLabel) - revision || numberOf(dataVolume, attemptLabel) - attempt;
  // Made after this image was read: the next pass sees both.
  if (order > 0) return false;
  if (order < 0) return true;
  if (phase === 'Succeeded') {
    // Without a snapshot that is seen to be usable it is the last copy.
    const isCopied = snapshots.some(
      (found) => isUsable(found) && isCutFrom(found, dataVolume, dataVolume.metadata.name),
    );
    return isCopied && !policy.values.retainSourceVolume && isValid(policy, 'retainSourceVolume');
  }
  // What is downloaded is paid for, also where nothing in the status tells of it: somebody may have edited that.
  if (phase === 'Failed')
    return image.status?.snapshottingAt ? dataVolume.status?.phase !== 'Succeeded' : !isDownloaded(dataVolume);
  return phase === 'Retrying' || phase === 'Queued';
}

/** Deletes the DataVolume of an attempt. */
export const remove = (image: VMDiskImage, dataVolume: DataVolume): Action => ({
  do: 'delete',
  resource: DataVolumeKind,
  of: dataVolume,
  trace: traceOf(image),
});

const numberOf = (object: DataVolume, label: string) => Number(object.metadata.labels?.[label] ?? 0);
