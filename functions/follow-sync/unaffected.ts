import type { ChangeVerb, Subject } from '../../shared/function.ts';
import { snapshotName } from '../../shared/images/children.ts';
import { currentVolume } from '../../shared/images/current-volume.ts';
import { whyPrunable } from '../../shared/images/pruning.ts';
import { isFirst, isRequested, isRevisionAsked, isUnsettled } from '../../shared/images/unsettled.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { isClone } from './attempt/clone.ts';
import { isScratch } from './attempt/failure.ts';
import { isAboutAt, progressText } from './attempt/progress.ts';
import { isDownloaded } from './observed.ts';

/**
 * True if the image alone shows that these events change no decision. What they do not tell, an event of its DataVolume or snapshot does, or
 * the fact that it is unsettled; a sweep or, of a finished image, an audit finds what no event reported.
 */
export function isUnaffected(image: VMDiskImage, events: readonly Subject[]): boolean {
  if (events.length === 0 || isUnsettled(image)) return false;
  const { phase } = image.status ?? {};
  if (phase === undefined || phase === 'Queued') return true;
  return phase === 'Succeeded' && areOnly(events, [DataVolume, 'delete']);
}

/** True if the snapshot alone can matter: the image waits for it, and the events are about nothing else. */
export const isAboutSnapshot = (image: VMDiskImage, events: readonly Subject[]) =>
  image.status?.phase === 'Snapshotting' && isPlain(image) && isRequested(image) && areOnly(events, snapshotUpdated);

/**
 * Whether its DataVolume, too, reports nothing to decide: it waits for its importer and names no trouble, or its importer, which the status
 * names, is hardly further than that, or is done. Most of what CDI reports of a download is that.
 */
export function isUneventful(image: VMDiskImage, dataVolumes: readonly DataVolume[], events: readonly Subject[]) {
  if (image.status?.phase !== 'Syncing' || !isPlain(image) || !areOnly(events, volumeUpdated)) return false;
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

/** It is downloaded for the first time, and no one asks for anything else. */
export const isPlain = (image: VMDiskImage) =>
  isFirst(image) && !isClone(image) && whyPrunable(image) === undefined && !isRevisionAsked(image);

type Reported = readonly [Resource, ChangeVerb];

const volumeUpdated: Reported = [DataVolume, 'update'];
const snapshotUpdated: Reported = [VolumeSnapshot, 'update'];

const areOnly = (events: readonly Subject[], ...of: readonly Reported[]) =>
  events.length > 0 && events.every((event) => of.some((one) => isOf(event, one)));

/** What a function asked to be looked at again has no verb. */
const isOf = ({ apiVersion, kind, verb }: Subject, [resource, of]: Reported) =>
  kind === resource.kind && apiVersion === resource.apiVersion && verb === of;

/** The phases of a DataVolume before its importer is at work, and from then on. */
const notBegun = new Set(['', 'Pending', 'ImportScheduled']);
const begun = new Set(['ImportInProgress', 'Succeeded']);

/** A condition that every import passes. */
const isQuiet = (condition: { reason: string; message: string } | undefined) =>
  ['', 'Pending', 'NotFound', 'Bound', 'ContainerCreating'].includes(condition?.reason ?? '') &&
  !isScratch(condition?.message ?? '');
