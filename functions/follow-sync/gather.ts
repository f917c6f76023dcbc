import { distinct } from '../../shared/distinct.ts';
import { type Batch, type Context, type Subject, subjectOf, type Unreadable } from '../../shared/function.ts';
import { isAdopting } from '../../shared/images/adoption.ts';
import { imageNameOf, snapshotName } from '../../shared/images/children.ts';
import { currentName, currentVolume } from '../../shared/images/current-volume.ts';
import { imagesOfFacts } from '../../shared/images/facts.ts';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { isRevisionAsked } from '../../shared/images/unsettled.ts';
import { DataSource } from '../../shared/kinds/cdi/data-source.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { imageUidLabel, underWay, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import {
  type KubernetesObject,
  keyOf,
  type ObjectReference,
  type Resource,
  referenceIn,
  referenceOf,
} from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { isObjectName } from '../../shared/kubernetes/names.ts';
import { getNamed } from '../../shared/runtime/get-named.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { listTrimmed } from '../../shared/runtime/list-trimmed.ts';
import { readPolicy } from '../../shared/runtime/read-policy.ts';
import { orUnreadable, partition } from '../../shared/runtime/unreadable.ts';
import { decide } from './decide.ts';
import { isDownloaded, type Observed } from './observed.ts';
import { mayBeSource } from './snapshot/data-source.ts';
import { isAboutSnapshot, isPending, isPlain, isUnaffected, isUneventful } from './unaffected.ts';

export async function gather(context: Context, batch: Batch): Promise<(Observed | Unreadable)[]> {
  const { kube, nowMs, refusals } = context;
  const named = imagesNamed(batch);
  const isByName = isAboutNamed(batch, named);
  const { read, unreadable } = partition(await (isByName ? readAll(kube, named) : imagesOf(kube, named)));
  const eventsOf = isByName && !batch.audited ? eventsByImage(batch) : () => [];
  const concerned = read.filter((image) => !isUnaffected(image, eventsOf(image)));
  const readers = childReaders(kube, eventsOf);
  const first = await readFirst(readers, concerned, eventsOf);
  const images = [...first.waiting, ...first.others];
  if (images.length === 0) return unreadable;
  const [policy, children] = await Promise.all([readPolicy(kube), readRest(kube, readers, first)]);
  const observeOne = observingNamed(kube, { nowMs, policy, refusals, isAudit: batch.audit, named }, children);
  const observed = images.map((image) => orUnreadable(image.metadata, observeOne(image)));
  return [...unreadable, ...(await Promise.all(observed))];
}

type Reader = Context['kube'];
type Children = Pick<Observed, 'dataVolumes' | 'pods' | 'snapshots'>;
type EventsOf = (image: VMDiskImage) => readonly Subject[];

/** Of a plain image an event needs no more than its one DataVolume and its one snapshot; a second look, which has no verb, reads all. */
function childReaders(kube: Reader, eventsOf: EventsOf) {
  const isByName = (image: VMDiskImage) => {
    const events = eventsOf(image);
    return isPlain(image) && events.length > 0 && events.every(({ verb }) => verb !== undefined);
  };
  const reader =
    <T extends KubernetesObject>(resource: Resource<T>, nameOf: (image: VMDiskImage) => string) =>
    async (images: readonly VMDiskImage[]) => {
      const refs = images.filter(isByName).map((image) => ({ ...referenceOf(image), name: nameOf(image) }));
      const others = images.filter((image) => !isByName(image));
      return (await Promise.all([getNamed(kube, resource, refs), listMadeFor(kube, resource, others)])).flat();
    };
  return {
    readVolumes: reader(DataVolume, currentName),
    readSnapshots: reader(VolumeSnapshot, ({ metadata }) => snapshotName(metadata, 1)),
  };
}

/** What carries the label of one of these images. */
function listMadeFor<T extends KubernetesObject>(kube: Reader, resource: Resource<T>, images: readonly VMDiskImage[]) {
  const uids = images.map(({ metadata }) => metadata.uid);
  return listLabelled(kube, resource, imageUidLabel, uids);
}

/** Reads what the events are about, the snapshot or the DataVolume, and leaves out the images of which it shows nothing to decide. */
async function readFirst(
  { readVolumes, readSnapshots }: ReturnType<typeof childReaders>,
  images: readonly VMDiskImage[],
  eventsOf: EventsOf,
) {
  const waiting = images.filter((image) => isAboutSnapshot(image, eventsOf(image)));
  const others = images.filter((image) => !isAboutSnapshot(image, eventsOf(image)));
  const [dataVolumes, snapshots] = await Promise.all([readVolumes(others), readSnapshots(waiting)]);
  const [volumesOf, snapshotsOf] = [byImage(dataVolumes), byImage(snapshots)];
  return {
    dataVolumes,
    snapshots,
    waiting: waiting.filter((image) => !isPending(image, snapshotsOf(image))),
    others: others.filter((image) => !isUneventful(image, volumesOf(image), eventsOf(image))),
  };
}

/** The Pods after the DataVolumes that mirror them: what a DataVolume reports is then visible in its Pods. */
async function readRest(
  kube: Reader,
  { readVolumes, readSnapshots }: ReturnType<typeof childReaders>,
  { waiting, others, dataVolumes, snapshots }: Awaited<ReturnType<typeof readFirst>>,
): Promise<Children> {
  const isDownloading = (image: VMDiskImage) =>
    image.status?.phase === 'Syncing' && !isDownloaded(currentVolume(image, dataVolumes));
  const [pods, ofWaiting, ofOthers] = await Promise.all([
    listMadeFor(kube, Pod, others.filter(isDownloading)),
    readVolumes(waiting),
    readSnapshots(others.filter((image) => !isFirstDownload(image))),
  ]);
  return { dataVolumes: [...dataVolumes, ...ofWaiting], pods, snapshots: [...snapshots, ...ofOthers] };
}

/** With what no list has: the snapshots that the image names and, if the policy asks for one, its DataSource. */
function observingNamed(kube: Reader, common: Common, children: Children) {
  const [observeOne, known] = [observing(common, children), byName(children.snapshots)];
  return async (image: VMDiskImage): Promise<Observed> => {
    const isOffered = common.policy.values.dataSources && mayBeSource(image);
    const [found, source] = await Promise.all([
      namedSnapshots(kube, image, known),
      isOffered ? kube.get(DataSource, image.metadata) : undefined,
    ]);
    return { ...observeOne(image, found), ...(isOffered ? { dataSource: { found: source } } : {}) };
  };
}

/**
 * Names the images that an audit may do something about. What was made for an image is listed before it here, so that it may be out of
 * date: the decision is made again after the image and then these are read.
 */
export async function* audit({ kube, nowMs }: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<Subject[]> {
  const ofImages = { labelSelector: imageUidLabel };
  const [policy, dataVolumes, pods, snapshots] = await Promise.all([
    readPolicy(kube),
    listTrimmed(kube, DataVolume, ofImages),
    listTrimmed(kube, Pod, ofImages),
    listTrimmed(kube, VolumeSnapshot, ofImages),
  ]);
  const sources = policy.values.dataSources ? byImage(await listTrimmed(kube, DataSource, ofImages)) : undefined;
  const listed = byName(snapshots);
  const common = { nowMs, policy, refusals: new Map(), isAudit: true, named: [] };
  const observeOne = observing(common, { dataVolumes, pods, snapshots });
  const mayAct = (image: VMDiskImage) => {
    const found = new Map(namesOf(image).map((name) => [name, listed.get(keyOf({ ...image.metadata, name }))]));
    return (
      [...found.values()].includes(undefined) ||
      decide({ ...observeOne(image, found), dataSource: sources && { found: sources(image)[0] } }).length > 0
    );
  };
  for await (const { items } of kube.pages(VMDiskImage)) yield items.filter(mayAct).map(subjectOf);
}

type Common = Pick<Observed, 'nowMs' | 'policy' | 'refusals' | 'isAudit'> & { named: readonly ObjectReference[] };

/** How an image is observed among what was made for images, given the snapshots that it names. */
function observing({ named, ...common }: Common, { dataVolumes, pods, snapshots }: Children) {
  const names = new Set(named.map(keyOf));
  const [dataVolumesOf, podsOf, snapshotsOf] = [byImage(dataVolumes), byImage(pods), byImage(snapshots)];
  return (image: VMDiskImage, found: ReadonlyMap<string, VolumeSnapshot | undefined>): Observed => {
    const held = snapshotOf(image);
    const others = [...found.values()].filter((one) => one !== undefined);
    return {
      ...common,
      image,
      isNamed: names.has(keyOf(image.metadata)),
      dataVolumes: dataVolumesOf(image),
      pods: podsOf(image),
      snapshots: [...new Set([...snapshotsOf(image), ...others])],
      isSnapshotGone: held !== undefined && found.get(held) === undefined,
    };
  };
}

const uidIn = ({ metadata }: KubernetesObject) => metadata.labels?.[imageUidLabel];

const byName = (snapshots: readonly VolumeSnapshot[]) =>
  new Map(snapshots.map((snapshot) => [keyOf(snapshot.metadata), snapshot]));

/** Which of these objects were made for an image. */
function byImage<T extends KubernetesObject>(objects: readonly T[]): (image: VMDiskImage) => readonly T[] {
  const groups = Map.groupBy(objects, uidIn);
  return ({ metadata }) => groups.get(metadata.uid) ?? [];
}

/** The images that facts are about, or events, by name or by the name of a child, or that an audit found. */
const imagesNamed = (batch: Batch): readonly ObjectReference[] => [
  ...imagesOfFacts(batch),
  ...[...(batch.audited ?? []), ...batch.subjects].map(imageOf).filter((ref) => ref !== undefined),
];

/** What events report of the children of each image; nothing of an image that a fact is about, so that all is read. */
function eventsByImage(batch: Batch): (image: VMDiskImage) => readonly Subject[] {
  const byFacts = new Set(imagesOfFacts(batch).map(keyOf));
  const groups = Map.groupBy(batch.subjects, (subject) => {
    const ref = imageOf(subject);
    return ref && keyOf(ref);
  });
  return ({ metadata }) => (byFacts.has(keyOf(metadata)) ? [] : (groups.get(keyOf(metadata)) ?? []));
}

/** With more names than this, a list costs less than a read for each. */
const mostNamed = 20;

/** Only the timers look for changes without an event. */
const isAboutNamed = ({ sweep, audit }: Batch, named: readonly ObjectReference[]) =>
  !sweep && !audit && named.length <= mostNamed;

async function readAll(kube: Reader, refs: readonly ObjectReference[]): Promise<(VMDiskImage | Unreadable)[]> {
  const found = distinct(refs, keyOf).map((ref) => orUnreadable(ref, kube.get(VMDiskImage, ref)));
  return (await Promise.all(found)).filter((image) => image !== undefined);
}

/** The images under way, those that still hold a slot, and those named. */
async function imagesOf(kube: Reader, named: readonly ObjectReference[]): Promise<(VMDiskImage | Unreadable)[]> {
  const [open, lease] = await Promise.all([
    kube.list(VMDiskImage, { fieldSelector: underWay }),
    kube.get(Lease, leaseRef),
  ]);
  const known = new Set(open.map(({ metadata }) => keyOf(metadata)));
  const wanted = [...named, ...(holdersOf(lease) ?? []).map(({ image }) => referenceIn(image))];
  const missing = wanted.filter((ref) => !known.has(keyOf(ref)));
  return [...open, ...(await readAll(kube, missing))];
}

/** No snapshot was made for the image yet. */
const isFirstDownload = (image: VMDiskImage) =>
  image.status?.phase === 'Syncing' && (image.status.revision ?? 1) === 1 && !isRevisionAsked(image);

/** The image that is the subject, or that a child was made for, by the child's name: the child itself may be gone. */
const imageOf = ({ kind, namespace, name }: Subject): ObjectReference | undefined => {
  const image = kind === VMDiskImage.kind ? name : imageNameOf(name);
  return image === undefined ? undefined : { namespace, name: image };
};

/**
 * The snapshots that the image names, by name; undefined where the API server answers 404 for that very name.
 * Only a 404 proves that a snapshot was deleted, and no list has an adopted snapshot, which carries no label of ours.
 */
async function namedSnapshots(kube: Reader, image: VMDiskImage, listed: ReadonlyMap<string, VolumeSnapshot>) {
  const reads = namesOf(image).map(async (name) => {
    const ref = { namespace: image.metadata.namespace, name };
    return [name, listed.get(keyOf(ref)) ?? (await kube.get(VolumeSnapshot, ref))] as const;
  });
  return new Map(await Promise.all(reads));
}

/** The snapshot in use, and the adopted ones if an annotation asks or asked for a revision: no list has them. */
function namesOf(image: VMDiskImage): string[] {
  const { revisions = [] } = image.status ?? {};
  const adopted = revisions.filter(({ snapshot, revision }) => snapshot !== snapshotName(image.metadata, revision));
  const names = [snapshotOf(image), ...(isRevisionAsked(image) ? adopted.map(({ snapshot }) => snapshot) : [])];
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** The snapshot that a finished or deleted image is cloned from, or that an image waits to adopt. */
function snapshotOf(image: VMDiskImage): string | undefined {
  const { phase, snapshot, adoption } = image.status ?? {};
  const isResting = phase === 'Succeeded' || image.metadata.deletionTimestamp !== undefined;
  const name = isResting ? snapshot?.name : isAdopting(image) ? adoption?.snapshot : undefined;
  return name !== undefined && isObjectName(name) ? name : undefined;
}
