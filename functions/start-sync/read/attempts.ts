import { type Batch, subjectsOf } from '../../../shared/function.ts';
import { isAdopting } from '../../../shared/images/adoption.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type Resource } from '../../../shared/kinds/resource.ts';
import { isIn } from '../../../shared/kubernetes/selectors.ts';
import { getNamed } from '../../../shared/runtime/get-named.ts';
import type { Gathered } from '../observed.ts';
import { isActiveAttempt, isOfAttempt, volumeOf } from '../slots/occupancy.ts';
import { isAmong, type Reader, reading } from './reader.ts';

export interface HeldImage {
  holder: Holder;
  image: VMDiskImage | undefined;
}

export function withImages(holders: readonly Holder[], images: Iterable<VMDiskImage>): HeldImage[] {
  const uids = new Set(holders.map(({ uid }) => uid));
  const held = [...images].filter(({ metadata }) => uids.has(metadata.uid));
  const byUid = new Map(held.map((image) => [image.metadata.uid, image]));
  return holders.map((holder) => ({ holder, image: byUid.get(holder.uid) }));
}

type Attempts = Pick<Gathered, 'dataVolumes' | 'pods' | 'claims'>;

export const noAttempts: Attempts = { dataVolumes: [], pods: [], claims: [] };

type Kube = Reader['kube'];

/** Of a holder nothing is read that no event can be about. Where the Lease cannot be read, everything is listed. */
export async function readHolders(
  reader: Reader,
  holders: readonly Holder[] | undefined,
  events: { toRead: readonly HeldImage[]; readVolumes: ReadVolumes } | undefined,
): Promise<Attempts & Pick<Gathered, 'unreadHolders'>> {
  const { kube, nowMs } = reader;
  const toRead = events?.toRead ?? withImages(holders ?? [], []);
  const readVolumes = events?.readVolumes ?? volumesOnce(kube);
  const uids = holderUidsOf(toRead);
  const attempts = await reading(
    reader,
    holders ? readAttemptsOfHolders(kube, toRead, readVolumes) : readAttempts(kube, undefined),
    noAttempts,
    holders ? isAmong(uids) : (image) => mayHaveAttempt(image, nowMs),
  );
  return { ...attempts, unreadHolders: new Set(holders?.map(({ uid }) => uid)).difference(new Set(uids)) };
}

/** The DataVolumes and Pods of these images; without uids, of all images. */
export async function readAttempts(kube: Kube, uids: readonly string[] | undefined): Promise<Attempts> {
  if (uids?.length === 0) return noAttempts;
  const [dataVolumes, pods] = await Promise.all([madeFor(kube, DataVolume, uids), madeFor(kube, Pod, uids)]);
  return { dataVolumes, pods, claims: [] };
}

/**
 * The holders that these events may be about: all but those whose images say that their DataVolumes download. Those keep their slots until
 * an event is about them, or a sweep. An importer that ended does not tell its image, so it may be that of any.
 */
export function selectHolders(batch: Batch, held: readonly HeldImage[]): readonly HeldImage[] {
  if (subjectsOf(batch, Pod).length > 0) return held;
  const deleted = new Set(subjectsOf(batch, DataVolume).map(keyOf));
  return held.filter(
    ({ holder, image }) => !image || !isUnderWay(holder, image) || deleted.has(keyOf(volumeOf(holder, image))),
  );
}

const isUnderWay = (holder: Holder, image: VMDiskImage) =>
  image.status?.phase === 'Syncing' && image.status.dataVolume !== undefined && isActiveAttempt(holder, image);

/** For more, one list costs less than a read of each. */
const mostByName = 4;

/** The DataVolumes of holders, and perhaps of others. */
export type ReadVolumes = (held: readonly HeldImage[]) => Promise<readonly DataVolume[]>;

/** Reads the DataVolumes of each holder once: those of first attempts by name, unless they are many. */
export function volumesOnce(kube: Kube): ReadVolumes {
  const read = new Map<string, Promise<readonly DataVolume[]>>();
  return async (held) => {
    const unread = held.filter(({ holder }) => !read.has(holder.uid));
    const volumes = readVolumes(kube, unread);
    for (const uid of holderUidsOf(unread)) read.set(uid, volumes);
    const found = await Promise.all(new Set(holderUidsOf(held).map((uid) => read.get(uid) ?? volumes)));
    return found.flat();
  };
}

async function readVolumes(kube: Kube, held: readonly HeldImage[]): Promise<DataVolume[]> {
  const first = held.filter(isFirstAttempt);
  const byName = first.length <= mostByName ? first : [];
  const named = new Set(holderUidsOf(byName));
  const others = holderUidsOf(held).filter((uid) => !named.has(uid));
  const [found, listed] = await Promise.all([
    getNamed(
      kube,
      DataVolume,
      byName.map(({ holder, image }) => volumeOf(holder, image)),
    ),
    others.length > 0 ? madeFor(kube, DataVolume, others) : [],
  ]);
  // A list would leave out one that a user labelled for another image.
  const isTheirs = ({ metadata }: DataVolume) => named.has(metadata.labels?.[imageUidLabel] ?? '');
  return [...found.filter(isTheirs), ...listed];
}

/** By the Lease and by the image, for a user may have edited either. */
const isFirstAttempt = (held: HeldImage): held is HeldImage & { image: VMDiskImage } => {
  const { revision, attempt = 0 } = held.image?.status ?? {};
  return held.holder.revision === 1 && held.holder.attempt === 1 && revision === 1 && attempt <= 1;
};

const holderUidsOf = (held: readonly HeldImage[]) => held.map(({ holder }) => holder.uid);

/**
 * While the claim of a deleted DataVolume exists, CDI may still create an importer Pod for it. So where the DataVolume of a holder does not
 * exist, its claim is read, and its Pods last; of a later attempt the Pods in any case, for those of an earlier one may be at work. While the
 * DataVolume of a first attempt exists, it tells all: when CDI reports Succeeded, the importer has ended (15 of 15 recordings).
 */
export async function readAttemptsOfHolders(
  kube: Kube,
  held: readonly HeldImage[],
  read: ReadVolumes,
): Promise<Attempts> {
  if (held.length === 0) return noAttempts;
  const dataVolumes = await read(held);
  const isThere = ({ holder }: HeldImage) => dataVolumes.some(isOfAttempt(holder));
  const missing = held.filter((one) => !isThere(one));
  const doubtful = held.filter((one) => !isThere(one) || !isFirstAttempt(one));
  const claims = missing.length > 0 ? await madeFor(kube, PersistentVolumeClaim, holderUidsOf(missing)) : [];
  const pods = doubtful.length > 0 ? await madeFor(kube, Pod, holderUidsOf(doubtful)) : [];
  return { dataVolumes, claims, pods };
}

/** For more images all are listed, because uids are part of the URL. */
const mostUids = 100;

const madeFor = <T extends KubernetesObject>(kube: Kube, resource: Resource<T>, uids: readonly string[] | undefined) =>
  kube.list(resource, {
    labelSelector: uids && uids.length <= mostUids ? isIn(imageUidLabel, uids) : imageUidLabel,
  });

/** Whether the image may have an attempt, in the Lease or not. */
export const mayHaveAttempt = (image: VMDiskImage, nowMs: number) =>
  image.status?.phase ? hasBegunBefore(image) : mayHaveLostStatus(image, nowMs);

/** A DataVolume of the image may be downloading: that of its attempt, or an earlier DataVolume that is not deleted yet. */
export const hasBegunBefore = (image: VMDiskImage) => {
  const { status } = image;
  if (status?.phase === 'Snapshotting' && !isAdopting(image)) return false;
  return (status?.attempt ?? 0) > 0 || (status?.revision ?? 1) > 1;
};

/** A new image is read within seconds. Of an older one a user may have removed the status. */
const newForMs = 5_000;

/** It may have lost its status: the finalizer shows that it had one, or it is not new. */
export const mayHaveLostStatus = ({ metadata, status }: VMDiskImage, nowMs: number) =>
  !status?.phase &&
  ((metadata.finalizers?.length ?? 0) > 0 || nowMs - Date.parse(metadata.creationTimestamp) > newForMs);
