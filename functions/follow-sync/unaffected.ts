import type { ChangeVerb, Subject } from '../../shared/function.ts';
import { currentVolume } from '../../shared/images/current-volume.ts';
import { whyPrunable } from '../../shared/images/pruning.ts';
import { isFirst, isRevisionAsked, isUnsettled } from '../../shared/images/unsettled.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { isFirstName } from '../../shared/kubernetes/names.ts';
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

export type Child = DataVolume | VolumeSnapshot;

/** An event of a change of a first attempt's DataVolume or a first revision's snapshot, by its name. */
export const isUpdateOfFirst = (resource: Resource<Child>, event: Subject) =>
  isOf(event, [resource, 'update']) && isFirstName(event.name);

/**
 * Whether a child of the first attempt reports nothing to decide, whatever its image shows: a snapshot that is being taken without an error,
 * a DataVolume that CDI has not looked at yet, or whose importer is done and whose claim is not bound.
 */
export function reportsNothing(child: Child): boolean {
  const { deletionTimestamp, ownerReferences } = child.metadata;
  if (deletionTimestamp) return false;
  if (isSnapshot(child)) return !ownerReferences && !child.status?.readyToUse && !child.status?.error;
  const { phase = '', conditions = [] } = child.status ?? {};
  if (phase === '') return conditions.length === 0;
  const isDone = begun.has(phase) && conditionOf(conditions, 'Running')?.reason === 'Completed';
  return isDone && isOnItsWay(child) && !isDownloaded(child);
}

/**
 * Whether the image and its DataVolume together report nothing to decide: it waits for its importer and names no trouble, or its importer,
 * which the status names, is hardly further than that.
 */
export function isUneventful(image: VMDiskImage, dataVolumes: readonly DataVolume[], events: readonly Subject[]) {
  if (image.status?.phase !== 'Syncing' || !isPlain(image) || !areOnly(events, volumeUpdated)) return false;
  const [dataVolume, ...others] = dataVolumes;
  const { dataVolume: seen, importer, progress } = image.status;
  if (!dataVolume || others.length > 0 || dataVolume !== currentVolume(image, dataVolumes)) return false;
  const { phase = '', conditions, progress: reported } = dataVolume.status ?? {};
  const running = conditionOf(conditions, 'Running');
  if (!isOnItsWay(dataVolume)) return false;
  if (importer === undefined)
    return seen === undefined && notBegun.has(phase) && running?.status !== 'True' && isQuiet(running);
  if (seen !== dataVolume.metadata.name || running?.status !== 'True') return false;
  return phase === 'ImportInProgress' && isAboutAt(progress, progressText(reported));
}

/** It is downloaded for the first time, and no one asks for anything else. */
export const isPlain = (image: VMDiskImage) =>
  isFirst(image) && !isClone(image) && whyPrunable(image) === undefined && !isRevisionAsked(image);

/** Its importer did not begin again, and its claim has no trouble. */
const isOnItsWay = ({ status }: DataVolume) =>
  !status?.restartCount && isQuiet(conditionOf(status?.conditions, 'Bound'));

const isSnapshot = (child: Child): child is VolumeSnapshot => child.kind === VolumeSnapshot.kind;

type Reported = readonly [Resource, ChangeVerb];

const volumeUpdated: Reported = [DataVolume, 'update'];

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
