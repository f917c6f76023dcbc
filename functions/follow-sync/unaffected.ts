import type { ChangeVerb, Subject } from '../../shared/function.ts';
import { isAdopting } from '../../shared/images/adoption.ts';
import { currentVolume } from '../../shared/images/current-volume.ts';
import { whyPrunable } from '../../shared/images/pruning.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { useRevision, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { snapshotName } from '../../shared/kubernetes/names.ts';
import { isClone } from './clone.ts';
import { isScratch } from './failure.ts';
import { isDownloaded } from './observed.ts';
import { isAboutAt, progressText } from './progress.ts';

/**
 * True if the image alone shows that these events change no decision. This holds for most events of an image: start-sync queued it, this
 * function wrote what it found, users were counted. What they do not tell, an event of its DataVolume or snapshot does; a sweep or, of a
 * finished image, an audit finds what no event reported.
 */
export function isUnaffected(image: VMDiskImage, events: readonly Subject[]): boolean {
  const { phase, attempt = 0 } = image.status ?? {};
  if (whyPrunable(image) !== undefined || isRevisionAsked(image)) return false;
  if (phase === undefined) return true;
  if (!isFirst(image)) return false;
  if (phase === 'Queued') return attempt === 0;
  if (phase === 'Syncing') return areOnly(events, updated);
  if (phase === 'Snapshotting') return isRequested(image) && areOnly(events, updated);
  return phase === 'Succeeded' && isComplete(image) && areOnly(events, updated, [DataVolume, 'delete']);
}

/** True if the snapshot alone can matter: the image waits for it, and the events are about nothing else. */
export const isAboutSnapshot = (image: VMDiskImage, events: readonly Subject[]) =>
  image.status?.phase === 'Snapshotting' &&
  isPlain(image) &&
  isRequested(image) &&
  areOnly(events, updated, snapshotUpdated);

/**
 * Whether its DataVolume, too, reports nothing to decide: it waits for its importer and names no trouble, or its importer, which the status
 * names, is hardly further than that, or is done. Most of what CDI reports of a download is that.
 */
export function isUneventful(image: VMDiskImage, dataVolumes: readonly DataVolume[], events: readonly Subject[]) {
  if (image.status?.phase !== 'Syncing' || !isPlain(image) || !areOnly(events, updated, volumeUpdated)) return false;
  const [dataVolume, ...others] = dataVolumes;
  const { dataVolume: seen, importer, progress } = image.status;
  if (!dataVolume || others.length > 0 || dataVolume !== currentVolume(image, dataVolumes)) return false;
  const { phase = '', restartCount = 0, conditions, progress: reported } = dataVolume.status ?? {};
  const [running, bound] = ['Running', 'Bound'].map((type) => conditionOf(conditions, type));
  if (restartCount > 0 || !isQuiet(bound)) return false;
  if (importer === undefined)
    return seen === undefined && notBegun.has(phase) && running?.status !== 'True' && isQuiet(running);
  if (seen !== dataVolume.metadata.name || !begun.has(phase)) return false;
  if (running?.status !== 'True') return running?.reason === 'Completed' && !isDownloaded(dataVolume);
  return phase === 'ImportInProgress' && isAboutAt(progress, progressText(reported));
}

/** Whether its snapshot is still being taken, without an error. */
export function isPending(image: VMDiskImage, snapshots: readonly VolumeSnapshot[]) {
  const [snapshot, ...others] = snapshots;
  if (!snapshot || others.length > 0) return false;
  const { metadata, status } = snapshot;
  if (metadata.ownerReferences || metadata.deletionTimestamp) return false;
  return metadata.name === snapshotName(image.metadata, 1) && !status?.readyToUse && !status?.error;
}

/** An annotation asks for a revision, or asked for one. */
export const isRevisionAsked = ({ metadata, status }: VMDiskImage) =>
  metadata.annotations?.[useRevision] !== undefined || conditionOf(status?.conditions, 'RevisionPinned') !== undefined;

/** Of a later revision or attempt, a DataVolume of an earlier one may be left. */
const isFirst = (image: VMDiskImage) =>
  (image.status?.revision ?? 1) === 1 && (image.status?.attempt ?? 0) <= 1 && !isAdopting(image);

/** It is downloaded for the first time, and no one asks for anything else. */
const isPlain = (image: VMDiskImage) =>
  isFirst(image) && !isClone(image) && whyPrunable(image) === undefined && !isRevisionAsked(image);

type Reported = readonly [Resource, ChangeVerb];

const updated: Reported = [VMDiskImage, 'update'];

const volumeUpdated: Reported = [DataVolume, 'update'];
const snapshotUpdated: Reported = [VolumeSnapshot, 'update'];

const areOnly = (events: readonly Subject[], ...of: readonly Reported[]) =>
  events.length > 0 && events.every((event) => of.some((one) => isOf(event, one)));

/** What a function asked to be looked at again has no verb. */
const isOf = ({ apiVersion, kind, verb }: Subject, [resource, of]: Reported) =>
  kind === resource.kind && apiVersion === resource.apiVersion && verb === of;

/** Its snapshot was created right after its phase was written. A wait that begins again, for another reason, begins with the next event. */
const isRequested = ({ status }: VMDiskImage) =>
  ['Downloaded', 'Cloned'].includes(conditionOf(status?.conditions, 'Ready')?.reason ?? '');

/** It is Ready from the one snapshot that was ever taken for it. */
const isComplete = ({ metadata, status }: VMDiskImage) =>
  status?.snapshot?.name === snapshotName(metadata, 1) &&
  status.revisions?.length === 1 &&
  conditionOf(status.conditions, 'Ready')?.status === 'True';

/** The phases of a DataVolume before its importer is at work, and from then on. */
const notBegun = new Set(['', 'Pending', 'ImportScheduled']);
const begun = new Set(['ImportInProgress', 'Succeeded']);

/** A condition that every import passes. */
const isQuiet = (condition: { reason: string; message: string } | undefined) =>
  ['', 'Pending', 'NotFound', 'Bound', 'ContainerCreating'].includes(condition?.reason ?? '') &&
  !isScratch(condition?.message ?? '');
