import type { Action } from '../../../shared/actions.ts';
import { adopteeOf } from '../../../shared/images/adoption.ts';
import { contentDigest } from '../../../shared/images/content-digest.ts';
import { reportWhy, transition } from '../../../shared/images/status.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { isObjectName } from '../../../shared/kubernetes/names.ts';
import { bytesOf } from '../../../shared/kubernetes/quantity.ts';
import type { Cause } from '../../../shared/reasons/reason.ts';
import { sentence } from '../../../shared/sentence.ts';
import type { Observed } from '../observed.ts';
import { completed } from '../revision/revisions.ts';

type Check = (image: VMDiskImage, snapshot: VolumeSnapshot) => Cause | undefined;

/**
 * Takes over the snapshot that an image's annotation names, or says what is in the way. There is no deadline: while the
 * annotation exists nothing is downloaded.
 */
export function adopting(observed: Observed): Action[] {
  const { image, snapshots, nowMs } = observed;
  const name = image.status?.adoption?.snapshot ?? '';
  // start-sync has to take in first what was changed since: adopted under another spec, it would be downloaded at once.
  if (image.status?.contentDigest !== contentDigest(image) || adopteeOf(image) !== name) return [];
  const snapshot = snapshots.find(({ metadata }) => metadata.name === name);
  const trouble = snapshot ? troubleOf(image, snapshot) : missing(image, name);
  if (trouble || !snapshot) return trouble ? reportWhy(image, { ...trouble, nowMs }) : [];
  const isKept = isItsOwn(image, snapshot) ? '' : ' It is not deleted with the image.';
  const { stays, fields } = completed(observed, snapshot);
  return transition(image, {
    to: 'Succeeded',
    reason: 'SnapshotAdopted',
    message: `Ready to clone from snapshot ${name}, which was adopted: nothing was downloaded.${isKept}${stays}`,
    nowMs,
    fields,
  });
}

/** The first check that applies wins. */
const troubleOf = (image: VMDiskImage, snapshot: VolumeSnapshot): Cause | undefined =>
  checks
    .values()
    .map((check) => check(image, snapshot))
    .find((trouble) => trouble !== undefined);

function missing({ metadata }: VMDiskImage, name: string): Cause {
  const orElse = 'To download the image instead remove the annotation pelotech.ot/adopt-snapshot.';
  if (!isObjectName(name)) {
    const message = `Expected the name of a VolumeSnapshot in annotation pelotech.ot/adopt-snapshot, found ${JSON.stringify(name)}. ${orElse}`;
    return { reason: 'SnapshotNameInvalid', message };
  }
  return {
    reason: 'SnapshotMissing',
    message: `Expected VolumeSnapshot ${name} in namespace ${metadata.namespace}, found none. ${orElse}`,
  };
}

const isAnothers: Check = (image, { metadata }) => {
  const owner = metadata.labels?.[imageUidLabel];
  if (owner === undefined || owner === image.metadata.uid) return undefined;
  return {
    reason: 'SnapshotOfAnotherImage',
    message: `VolumeSnapshot ${metadata.name} belongs to another VMDiskImage (uid ${owner}) and is deleted with it. If that image no longer exists, remove the snapshot's label ${imageUidLabel} and its ownerReferences.`,
  };
};

const isDeleting: Check = (_, { metadata }) =>
  metadata.deletionTimestamp === undefined
    ? undefined
    : { reason: 'SnapshotTerminating', message: `VolumeSnapshot ${metadata.name} is being deleted.` };

const hasOtherClass: Check = (image, { metadata, spec }) => {
  const found = spec?.volumeSnapshotClassName;
  if (found === undefined || found === image.spec.snapshotClass) return undefined;
  return {
    reason: 'SnapshotClassMismatch',
    message: `Expected VolumeSnapshot ${metadata.name} to be of class ${image.spec.snapshotClass}, found ${found}; set snapshotClass to it.`,
  };
};

/** An error beside readyToUse is an old one (external-snapshotter: it is never final). */
const isUnready: Check = (_, { metadata, status }) => {
  if (status?.readyToUse) return undefined;
  const found = status?.error ? sentence(status.error.message) : 'No error is reported; it is being created.';
  return { reason: 'SnapshotNotReady', message: `VolumeSnapshot ${metadata.name} is not ready to use. ${found}` };
};

/** A claim cloned from a snapshot must be at least of its restoreSize (Kubernetes: volume snapshots). */
const isTooLarge: Check = (image, { metadata, status }) => {
  const restoreSize = status?.restoreSize ?? '0';
  const [needed = 0, wanted = 0] = [bytesOf(restoreSize), bytesOf(image.spec.diskSize)];
  if (needed <= wanted) return undefined;
  return {
    reason: 'SnapshotTooLarge',
    message: `Expected VolumeSnapshot ${metadata.name} to fit diskSize ${image.spec.diskSize}, found restoreSize ${restoreSize}; set diskSize to at least that.`,
  };
};

const checks: readonly Check[] = [isAnothers, isDeleting, hasOtherClass, isUnready, isTooLarge];

/** It carries the label of this image, so it is deleted with it. */
const isItsOwn = (image: VMDiskImage, { metadata }: VolumeSnapshot) =>
  metadata.labels?.[imageUidLabel] === image.metadata.uid;
