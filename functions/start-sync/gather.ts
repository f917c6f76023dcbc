import { uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { isAdopting } from '../../shared/images/adoption.ts';
import { type Holder, holdersOf, leaseName } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { imageUidLabel, unfinished, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import { isIn } from '../../shared/kubernetes/selectors.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { parsePolicy, policyName } from '../../shared/policy.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import { lacksFinalizer, newImagesPerReconcile } from './decide.ts';
import type { Classes } from './next-transition.ts';
import type { Gathered } from './observed.ts';
import { byFirstSight } from './places.ts';
import { newRevision } from './revision.ts';

/**
 * A failed read postpones the images that it concerns. Only all reads together show which slots are free, so after any failure no slot is
 * given or freed.
 */
export async function gather(
  { kube, nowMs, refusals, gracePeriodMs }: Context,
  batch: Batch,
): Promise<(Gathered | Unreadable)[]> {
  const own = { namespace: operatorNamespace };
  // The Lease before the images: an image older than the Lease could make a slot look free that was just granted.
  const [policyMap, lease] = await Promise.all([
    kube.get(ConfigMap, { ...own, name: policyName }),
    kube.get(Lease, { ...own, name: leaseName }),
  ]);
  const holders = holdersOf(lease);
  const held = holders?.map(({ uid }) => uid);
  // A free slot waits for these reads, so they run concurrently.
  const [open, busyHolders] = await Promise.all([
    kube.list(VMDiskImage, { fieldSelector: unfinished }),
    attemptsOf(kube, held),
  ]);
  const known = new Set(held);
  const isHolder = ({ metadata }: VMDiskImage) => known.has(metadata.uid);
  const { lost, later } = withoutStatus(open, nowMs);
  const isLost = new Set(uidsOf(lost));
  const mayHaveAttempt = (image: VMDiskImage) =>
    image.status?.phase ? hasBegunBefore(image) : isLost.has(image.metadata.uid);
  // Without a readable Lease, everything was listed just now.
  const untracked = (images: readonly VMDiskImage[]) =>
    held ? images.filter((image) => mayHaveAttempt(image) && !isHolder(image)) : [];
  const [{ rest, postponed, unread }, snapshots, busyOthers, classesOfOpen] = await Promise.all([
    settledImages(kube, batch, open, holders ?? []),
    reading(listLabelled(kube, VolumeSnapshot, imageUidLabel, uidsOf(lost))),
    attemptsOf(kube, uidsOf(untracked(open))),
    open.length > 0 ? reading(classesOf(kube)) : undefined,
  ]);
  // A finished image that is queued again by this pass may still have a download that was requested long ago.
  const leaving = untracked(rest.filter(canTransition));
  const [resumedAttempts, classes] = await Promise.all([
    attemptsOf(kube, uidsOf(leaving)),
    // Without an image no class is needed.
    classesOfOpen ?? (rest.length > 0 ? reading(classesOf(kube)) : noClasses),
  ]);
  const all = [...open, ...rest];
  const failed = new Map([
    ...unreadBy(busyHolders, held ? all.filter(isHolder) : all.filter(mayHaveAttempt)),
    ...unreadBy(snapshots, lost),
    ...unreadBy(busyOthers, untracked(open)),
    ...unreadBy(resumedAttempts, leaving),
  ]);
  const holding = new Set(holders?.map(({ image }) => image));
  const unreadHolders = unread.filter(({ unreadable: { namespace, name } }) => holding.has(`${namespace}/${name}`));
  const gaps = [busyHolders, busyOthers, resumedAttempts, snapshots, classes, ...unreadHolders];
  const gap = gaps.find(isFailed);
  const listed = [busyHolders, busyOthers, resumedAttempts].map((one) => (isFailed(one) ? noAttempts : one));
  const seen: Gathered = {
    nowMs,
    refusals,
    gracePeriodMs,
    isAudit: batch.audit,
    policy: parsePolicy(policyMap),
    policyMap,
    lease,
    images: all,
    // A user removed the status of a finished image after the unfinished ones were listed. The event of that starts the next pass.
    unread: new Set([...failed.keys(), ...uidsOf(later), ...uidsOf(rest.filter(({ status }) => !status?.phase))]),
    classes: isFailed(classes) ? undefined : classes,
    dataVolumes: listed.flatMap(({ dataVolumes }) => dataVolumes),
    pods: listed.flatMap(({ pods }) => pods),
    snapshots: isFailed(snapshots) ? [] : snapshots,
    postponed,
    ...(gap ? { gap: `the slots are not known: ${gap.error}` } : {}),
  };
  return [...unread, ...failed.values(), seen];
}

/** A failed read. */
interface Failed {
  error: unknown;
}

const reading = <T>(read: Promise<T>): Promise<T | Failed> => read.catch((error: unknown): Failed => ({ error }));

const isFailed = (one: unknown): one is Failed => typeof one === 'object' && one !== null && 'error' in one;

/** If the read failed: the images whose decisions need it, by uid. */
const unreadBy = (read: unknown, images: readonly VMDiskImage[]) =>
  isFailed(read)
    ? images.map(({ metadata }): [string, Unreadable] => [metadata.uid, unreadable(metadata, read.error)])
    : [];

type Reader = Context['kube'];

/** The limit of finished images that a pass reads because events name them. */
const namedPerPass = 100;

/**
 * Finished images are read only if an event names them, if they still hold a slot, if a cause may be removed, or by the audit.
 */
async function settledImages(
  kube: Reader,
  batch: Batch,
  open: readonly VMDiskImage[],
  holders: readonly Holder[],
): Promise<{ rest: VMDiskImage[]; postponed: ObjectReference[]; unread: Unreadable[] }> {
  const known = new Set(open.map(({ metadata }) => metadata.uid));
  if (batch.audit) {
    const found: VMDiskImage[] = [];
    const holding = new Set(holders.map(({ uid }) => uid));
    const isWanted = (image: VMDiskImage) => canTransition(image) || holding.has(image.metadata.uid);
    for await (const { items } of kube.pages(VMDiskImage)) found.push(...items.filter(isWanted));
    return { rest: found.filter(({ metadata }) => !known.has(metadata.uid)), postponed: [], unread: [] };
  }
  const isOpen = new Set(open.map(({ metadata }) => keyOf(metadata)));
  const wanted = [...holders.map(({ image }) => refOf(image)), ...subjectsOf(batch, VMDiskImage)];
  const byKey = new Map(wanted.map((ref) => [keyOf(ref), ref]));
  const named = [...byKey].filter(([key]) => !isOpen.has(key)).map(([, ref]) => ref);
  const [policyEvent] = subjectsOf(batch, ConfigMap);
  const [failed, ...others] = await Promise.all([
    policyEvent ? orUnreadable(policyEvent, kube.list(VMDiskImage, { fieldSelector: 'status.phase=Failed' })) : [],
    ...named.slice(0, namedPerPass).map((subject) => orUnreadable(subject, kube.get(VMDiskImage, subject))),
  ]);
  const [single, listed] = [partition(others), partition([failed])];
  const found = [...listed.read.flat(), ...single.read].filter((image) => image !== undefined);
  return {
    rest: uniqueByName(found).filter(({ metadata }) => !known.has(metadata.uid)),
    postponed: named.slice(namedPerPass),
    unread: [...single.unreadable, ...listed.unreadable],
  };
}

const refOf = (image: string): ObjectReference => {
  const [namespace, name = ''] = image.split('/');
  return { namespace, name };
};

/** The finished images that an audit looks at: all but those that are as wanted. */
const canTransition = (image: VMDiskImage) =>
  image.status?.phase === 'Failed' || newRevision(image) !== undefined || !image.status?.phase || lacksFinalizer(image);

const uidsOf = (images: readonly VMDiskImage[]) => images.map(({ metadata }) => metadata.uid);

/** For more images all DataVolumes are listed, because uids are part of the URL. */
const mostUids = 100;

/** A new image is read within seconds. Of an older one a user may have removed the status. */
const newForMs = 5_000;

/** As many images as a pass may queue that may have lost their status: the finalizer shows that they had one, or they are not new. */
function withoutStatus(open: readonly VMDiskImage[], nowMs: number): { lost: VMDiskImage[]; later: VMDiskImage[] } {
  const isOld = ({ metadata }: VMDiskImage) =>
    (metadata.finalizers?.length ?? 0) > 0 || nowMs - Date.parse(metadata.creationTimestamp) > newForMs;
  const found = open.filter((image) => !image.status?.phase && isOld(image)).sort(byFirstSight);
  return { lost: found.slice(0, newImagesPerReconcile), later: found.slice(newImagesPerReconcile) };
}

/** A DataVolume of the image may be downloading: that of its attempt, or an earlier DataVolume that is not deleted yet. */
const hasBegunBefore = (image: VMDiskImage) => {
  const { status } = image;
  if (status?.phase === 'Snapshotting' && !isAdopting(image)) return false;
  return (status?.attempt ?? 0) > 0 || (status?.revision ?? 1) > 1;
};

const noAttempts = { dataVolumes: [], pods: [] };

/** The DataVolumes and Pods of these images; without uids, of all images. */
const attemptsOf = (kube: Reader, uids: readonly string[] | undefined) => reading(madeFor(kube, uids));

async function madeFor(kube: Reader, uids: readonly string[] | undefined) {
  if (uids?.length === 0) return noAttempts;
  const ofThem = uids && uids.length <= mostUids ? isIn(imageUidLabel, uids) : imageUidLabel;
  const [dataVolumes, pods] = await Promise.all([
    kube.list(DataVolume, { labelSelector: ofThem }),
    kube.list(Pod, { labelSelector: ofThem }),
  ]);
  return { dataVolumes, pods };
}

const noClasses: Classes = { storage: new Map(), snapshot: new Map() };

async function classesOf(kube: Reader): Promise<Classes> {
  const [storage, snapshot] = await Promise.all([kube.list(StorageClass), kube.list(VolumeSnapshotClass)]);
  return {
    storage: new Map(storage.map(({ metadata, provisioner }) => [metadata.name, provisioner])),
    snapshot: new Map(snapshot.map(({ metadata, driver }) => [metadata.name, driver])),
  };
}
