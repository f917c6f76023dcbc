import {
  attemptLabel,
  imageUidLabel,
  revisionLabel,
  type VMDiskImage,
  type VMDiskImageStatus,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Invariant, Step } from './follow.ts';
import { isTrue } from './plain-rules.ts';
import { beganBefore } from './reconcile.ts';
import { isExternal } from './writers.ts';

/**
 * S8, evidence: an image becomes Succeeded only after a DataVolume of its uid and revision was Succeeded and a snapshot of that was
 * readyToUse; its condition Ready becomes True only with a snapshot that was readyToUse. An adopted snapshot, or the snapshot of a restored
 * status, needs no DataVolume, nor does any snapshot if changes were missed. A snapshot that was being deleted when the reconcile began is
 * no evidence. S17 judges the content. Evidence is not destroyed before it is recorded: follow-sync deletes no DataVolume of the attempt
 * that the status calls active, unless a user wiped the status after the reconcile read it (attempts then get the same names again).
 */
export const s8Evidence: Invariant = {
  number: 'S8',
  rule: 'an image is Ready only if its download and snapshot were seen to succeed',
  judge: (state, { gaps }) => {
    const ready = new Map<string, VolumeSnapshot>();
    /** The time since which a snapshot of that name is being deleted or does not exist. */
    const left = new Map<string, Moment>();
    const downloaded = new Set<string>();
    const wiped = new Map<string, { revision: number; ms: number }>();
    /** The snapshots that a user wrote into the status of an image, for example by a restore: of its revision, and of others. */
    const restored = new Map<string, ReadonlySet<string>>();
    const noteSnapshot = (snapshot: VolumeSnapshot) => {
      if (snapshot.status?.readyToUse) ready.set(keyOf(snapshot.metadata), snapshot);
    };
    for (const [, snapshot] of state.snapshots) noteSnapshot(snapshot);
    for (const [, downloads] of state.downloads)
      for (const [, dataVolume] of downloads)
        if (dataVolume.status?.phase === 'Succeeded') downloaded.add(revisionOf(dataVolume));
    const isRestored = (image: VMDiskImage, name = '') =>
      restored.get(image.metadata.uid)?.has(name) &&
      isOfOneBefore(image, ready.get(keyOf({ ...image.metadata, name })));
    const missing = (image: VMDiskImage, status: VMDiskImageStatus) => {
      // While another revision is pinned, only the list names the snapshot of this one.
      const isPinned = status.phase === 'Succeeded' && isTrue(status.conditions, 'RevisionPinned');
      const listed = status.revisions?.find(({ revision }) => revision === status.revision);
      const name = isPinned ? listed?.snapshot : status.snapshot?.name;
      const snapshot = name === undefined ? undefined : ready.get(keyOf({ ...image.metadata, name }));
      if (!snapshot) return `with snapshot ${name ?? 'none'}, which was never readyToUse`;
      if (status.phase !== 'Succeeded') return undefined;
      const wanted = `${image.metadata.uid} ${status.revision}`;
      if (status.adoption?.revision === status.revision)
        return status.adoption?.snapshot === name ? undefined : `with ${name}, not the snapshot it adopts`;
      if (revisionOf(snapshot) !== wanted) return `with ${name}, which is not of its revision ${status.revision}`;
      return downloaded.has(wanted) || gaps?.length ? undefined : `without a DataVolume of revision ${status.revision}`;
    };
    return {
      snapshot: ({ object, isGone, change, revision }) => {
        noteSnapshot(object);
        const key = keyOf(object.metadata);
        const isDeleting = isGone || object.metadata.deletionTimestamp !== undefined;
        if (!isDeleting) left.delete(key);
        else if (!left.has(key)) left.set(key, { revision, ms: change.atMs });
        return undefined;
      },
      download: (step) => {
        const { object, isGone, change } = step;
        if (object.status?.phase === 'Succeeded') downloaded.add(revisionOf(object));
        if (!isGone || change.by !== 'follow-sync' || !isActiveAttempt(state.images.get(imageUidOf(object)), object))
          return undefined;
        const wipe = wiped.get(imageUidOf(object));
        if (wipe && beganBefore(step, wipe)) return undefined;
        return `DataVolume ${object.metadata.name} was deleted before its outcome was recorded`;
      },
      image: (step) => {
        const { object, before, isGone, change, revision } = step;
        const { status } = object;
        if (isExternal(change) && status?.snapshot) restored.set(object.metadata.uid, snapshotsIn(status));
        if (before?.status?.phase && !status?.phase) wiped.set(object.metadata.uid, { revision, ms: change.atMs });
        if (
          isGone ||
          !status ||
          isExternal(change) ||
          (!isNewlySucceeded(status, before?.status) && !isNewlyReady(object, before))
        )
          return undefined;
        const { name } = status.snapshot ?? {};
        const why =
          (isRestored(object, name) ? undefined : missing(object, status)) ?? leftBefore(step as Step, left, name);
        return why && `${object.metadata.name} is ${status.phase} ${why}`;
      },
    };
  },
};

const snapshotsIn = ({ snapshot, revisions = [] }: VMDiskImageStatus) =>
  new Set([snapshot?.name ?? '', ...revisions.map((revision) => revision.snapshot)]);

/** The snapshot was made for an earlier image of this name, of the revision in the status. */
function isOfOneBefore({ metadata, status }: VMDiskImage, snapshot: VolumeSnapshot | undefined): boolean {
  const { name = '', labels } = snapshot?.metadata ?? {};
  const uid = labels?.[imageUidLabel];
  const isOfAnother = uid !== undefined && uid !== metadata.uid && name.startsWith(`${metadata.name}-`);
  return isOfAnother && labels?.[revisionLabel] === String(status?.snapshot?.revision);
}

interface Moment {
  revision: number;
  ms: number;
}

/** A write that relies on a snapshot being deleted is excused only if the deletion began after its reconcile. */
function leftBefore(step: Step, left: ReadonlyMap<string, Moment>, name = '') {
  const since = left.get(keyOf({ ...step.object.metadata, name }));
  return since && !beganBefore(step, since) ? `with snapshot ${name}, which was being deleted` : undefined;
}

const isNewlySucceeded = (status: VMDiskImageStatus, before: VMDiskImageStatus | undefined) =>
  status.phase === 'Succeeded' && before?.phase !== 'Succeeded';

const isNewlyReady = (image: VMDiskImage, before: VMDiskImage | undefined) => isReady(image) && !isReady(before);

const isReady = (image: VMDiskImage | undefined) => isTrue(image?.status?.conditions, 'Ready');

const imageUidOf = ({ metadata }: KubernetesObject) => metadata.labels?.[imageUidLabel] ?? '';

const isActiveAttempt = (image: VMDiskImage | undefined, { metadata: { labels } }: KubernetesObject) =>
  image?.status?.phase === 'Syncing' &&
  String(image.status.revision) === labels?.[revisionLabel] &&
  String(image.status.attempt) === labels?.[attemptLabel];

const revisionOf = ({ metadata: { labels } }: KubernetesObject) =>
  `${labels?.[imageUidLabel]} ${labels?.[revisionLabel]}`;
