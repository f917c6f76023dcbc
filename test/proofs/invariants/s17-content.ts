import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { imageUidLabel, revisionLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Invariant, Step } from './follow.ts';
import { contentOf, inspectedContent, isTrue } from './plain-rules.ts';
import { beganAt, longestReconcileMs } from './reconcile.ts';

/**
 * The content of a download: in its DataVolume, and what its image asked for while the reconcile decided, or when it had only the
 * snapshot taken again.
 */
interface Download {
  source: string;
  asked: Set<string>;
  /** Uid and revision of its image. */
  of: string;
  /** The content as its image was inspected; undefined if that does not tell it. */
  inspected: string | undefined;
}

/** A content that an image asked for, and until when. */
interface Asked {
  content: string;
  untilRevision: number;
  untilMs: number;
}

/**
 * S17, content: the snapshot of a Ready image was taken from a download of the content that the image asked for when the
 * reconcile, or the last reconcile of start-sync, read it; at rest, of the content that it asks for now. If an earlier revision
 * is pinned, the content is what `status.revisions` lists. A clone of another image's snapshot is of its content if the inspections of both
 * tell the same: a strong checksum, or one strong ETag at one server, and size and classes. Not judged: an adopted snapshot, a snapshot whose
 * volume was not recorded, and a status that a user wrote.
 */
export const s17Content: Invariant = {
  number: 'S17',
  rule: 'a Ready image has the content that it asks for',
  judge: (state, { stillFromMs, gaps }) => {
    const downloads = new Map<string, Download>();
    /** By the uid of the snapshot, and by the name of its VolumeSnapshotContent, which a restored snapshot keeps. */
    const held = new Map<string, Download | undefined>();
    /** By the name of the image: what a backup restores has another uid, and the status of the object before it. */
    const asked = new Map<string, Asked[]>();
    /** When start-sync, which queues new content, last read the image of each name. */
    const taken = new Map<string, number>();
    const snapshotOf = ({ metadata, status }: VMDiskImage) =>
      [...state.snapshots.values()].find(
        (one) => one.metadata.name === status?.snapshot?.name && one.metadata.namespace === metadata.namespace,
      );
    const wrongly = (image: VMDiskImage, contents: readonly string[]) => {
      const snapshot = snapshotOf(image);
      const download = snapshot && held.get(snapshot.metadata.uid);
      if (!download || isAdopted(image)) return undefined;
      const pinned = image.metadata.annotations?.['pelotech.ot/use-revision'];
      if (pinned !== undefined) return wronglyPinned(image, snapshot, download);
      if (contents.some((content) => download.asked.has(content) && download.source === sourcePartOf(content)))
        return undefined;
      return `${image.metadata.name} is Ready with ${snapshot.metadata.name}, a download of ${download.source}, but asks for ${sourcePartOf(contentOf(image))}`;
    };
    /** What a clone of another image's snapshot holds: what its image asks for, if both were inspected to be of one content. */
    const clonedSourceOf = ({ metadata, spec }: DataVolume, image: VMDiskImage | undefined) => {
      const { name } = (spec as { source?: { snapshot?: { name?: string } } } | undefined)?.source?.snapshot ?? {};
      const snapshot = [...state.snapshots.values()].find(
        (one) => one.metadata.name === name && one.metadata.namespace === metadata.namespace,
      );
      const donor = snapshot && held.get(snapshot.metadata.uid);
      if (!donor || !image) return undefined;
      const isSame = donor.inspected !== undefined && donor.inspected === inspectedContent(image);
      return isSame ? sourcePartOf(contentOf(image)) : `another's ${donor.source}`;
    };
    const takenAgain = (image: VMDiskImage) => {
      for (const { of, asked } of downloads.values())
        if (of === `${image.metadata.uid} ${image.status?.revision}`) asked.add(contentOf(image));
    };
    return {
      download: ({ object, before, isGone, state: { images } }) => {
        if (before || isGone) return undefined;
        const { [imageUidLabel]: uid = '', [revisionLabel]: revision } = object.metadata.labels ?? {};
        const image = images.get(uid);
        const source = sourceOf(object) ?? clonedSourceOf(object, image);
        const contents = image && [
          contentOf(image),
          ...(asked.get(keyOf(image.metadata)) ?? []).map(({ content }) => content),
        ];
        const of = `${uid} ${revision}`;
        const inspected = image && inspectedContent(image);
        if (source) downloads.set(keyOf(object.metadata), { source, asked: new Set(contents), of, inspected });
        return undefined;
      },
      snapshot: ({ object, before, isGone }) => {
        if (isGone) return undefined;
        const { persistentVolumeClaimName: name, volumeSnapshotContentName: content } = object.spec?.source ?? {};
        const { namespace, uid } = object.metadata;
        if (!before && name) held.set(uid, downloads.get(keyOf({ namespace, name })));
        if (!before && typeof content === 'string') held.set(uid, held.get(content));
        const bound = object.status?.boundVolumeSnapshotContentName;
        if (bound && !held.has(bound)) held.set(bound, held.get(uid));
        return undefined;
      },
      image: (step) => {
        const { object, before, isGone, revision, change } = step;
        if (isGone) return undefined;
        const name = keyOf(object.metadata);
        if (change.by === 'start-sync') taken.set(name, Math.max(taken.get(name) ?? 0, change.since ?? 0));
        if (before && contentOf(before) !== contentOf(object)) {
          const since = { content: contentOf(before), untilRevision: revision, untilMs: change.atMs };
          asked.set(name, [...(asked.get(name) ?? []), since]);
        }
        if (isSnapshotAgain(step)) takenAgain(object);
        const isNew = isHolding(object) && !(before && isHolding(before));
        if (!isNew || change.by === 'user' || gaps?.length) return undefined;
        const began = beganAt(step);
        const readable = (asked.get(name) ?? []).filter(({ untilRevision, untilMs }) =>
          // Another function may have read the content of the revision in an earlier reconcile.
          began.revision === undefined
            ? untilMs >= began.ms - longestReconcileMs
            : untilRevision > Math.min(began.revision, taken.get(name) ?? began.revision),
        );
        return wrongly(object, [contentOf(object), ...readable.map(({ content }) => content)]);
      },
      end: () => {
        if (stillFromMs === undefined || gaps?.length) return [];
        return [...state.images.values()]
          .filter((image) => isHolding(image) && image.metadata.deletionTimestamp === undefined)
          .map((image) => wrongly(image, [contentOf(image)]))
          .filter((message) => message !== undefined);
      },
    };
  },
};

const isHolding = ({ status }: VMDiskImage) => status?.phase === 'Succeeded' && isTrue(status.conditions, 'Ready');

/** A requested sync uses the existing download, because only the snapshot had Failed. */
const isSnapshotAgain = ({ before, object }: Step<VMDiskImage>) =>
  before?.status?.phase === 'Failed' && before.status.snapshottingAt && object.status?.phase === 'Snapshotting';

const isAdopted = ({ status }: VMDiskImage) =>
  status?.adoption !== undefined && status.adoption.snapshot === status.snapshot?.name;

/** The content that status.revisions lists for its snapshot. */
function wronglyPinned({ metadata, status }: VMDiskImage, snapshot: VolumeSnapshot, { source }: Download) {
  const revisions = (status as { revisions?: readonly { snapshot?: string; url?: string }[] } | undefined)?.revisions;
  const url = revisions?.find((one) => one.snapshot === snapshot.metadata.name)?.url;
  return url === undefined || source.split(' ')[0] === url
    ? undefined
    : `${metadata.name} is pinned to ${snapshot.metadata.name}, a download of ${source}, but status.revisions lists ${url}`;
}

/** The content that a DataVolume downloads, in the order of `contentOf`. */
function sourceOf({ spec }: DataVolume): string | undefined {
  const [[type, source] = []] = Object.entries((spec?.source ?? {}) as Record<string, Record<string, string>>);
  const storage = spec?.storage as
    | { storageClassName?: string; resources?: { requests?: { storage?: string } } }
    | undefined;
  if (!type || !source?.url) return undefined;
  return [source.url, type, source.checksum, storage?.resources?.requests?.storage, storage?.storageClassName].join(
    ' ',
  );
}

/** The part of a content that a DataVolume contains. */
const sourcePartOf = (content: string) => content.split(' ').slice(0, 5).join(' ');
