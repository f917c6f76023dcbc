import { type DataVolume, DataVolume as DataVolumeKind } from '../../shared/resources/cdi/data-volume.ts';
import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { traceOf } from '../../shared/rules/image-status.ts';
import { isValid } from '../../shared/rules/policy.ts';
import type { Observed } from './observed.ts';
import { isCutFrom, isUsable, removeSnapshot } from './snapshot.ts';

/** Volumes of earlier attempts, the source volume once its snapshot is ready, snapshots of earlier revisions. */
export function leftovers(observed: Observed): Action[] {
  const { image, dataVolumes, snapshots } = observed;
  const { phase, snapshot } = image.status ?? {};
  const old = phase === 'Succeeded' && snapshot ? snapshots.filter((found) => isOfBefore(found, image, snapshot)) : [];
  return [
    ...dataVolumes
      .filter((dataVolume) => !dataVolume.metadata.deletionTimestamp && isLeftOver(observed, dataVolume))
      .map((dataVolume) => remove(image, dataVolume)),
    ...old.filter(({ metadata }) => !metadata.deletionTimestamp).map((found) => removeSnapshot(image, found)),
  ];
}

/** Of an earlier revision, and the image's own: a snapshot that was adopted is deleted only where it carries its label. */
const isOfBefore = (found: VolumeSnapshot, { metadata }: VMDiskImage, used: { name: string; revision: number }) =>
  found.metadata.labels?.[imageUidLabel] === metadata.uid &&
  found.metadata.name !== used.name &&
  numberOf(found, revisionLabel) < used.revision;

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
  // A volume whose snapshot did not come in time is kept: the download is paid for.
  if (phase === 'Failed') return image.status?.snapshottingAt === undefined || dataVolume.status?.phase !== 'Succeeded';
  return phase === 'Retrying' || phase === 'Queued';
}

/** Deletes the DataVolume of an attempt. */
export const remove = (image: VMDiskImage, dataVolume: DataVolume): Action => ({
  do: 'delete',
  resource: DataVolumeKind,
  of: dataVolume,
  trace: traceOf(image),
});

const numberOf = (object: DataVolume | VolumeSnapshot, label: string) => Number(object.metadata.labels?.[label] ?? 0);
