import { distinct, uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { type Holder, holdersOf, leaseName } from '../../shared/images/slots.ts';
import { downloadOf, missingLine } from '../../shared/images/sources.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import type { Secret } from '../../shared/kinds/core/secret.ts';
import { imageUidLabel, unfinished, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import {
  type KubernetesObject,
  keyOf,
  type ObjectReference,
  type Resource,
  referenceIn,
  referenceOf,
} from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import { isIn } from '../../shared/kubernetes/selectors.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { parsePolicy, policyRef } from '../../shared/policy.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { logError } from '../../shared/runtime/log.ts';
import { orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import { lacksFinalizer, newImagesPerReconcile } from './decide.ts';
import { type Focus, focusOf, hasBegunBefore, inLine, lookAt } from './focus.ts';
import { isIdle } from './idle.ts';
import { type Input, type Inputs, idOf, inputsOf, lacksInput } from './inputs.ts';
import type { Classes } from './next-transition.ts';
import type { Gathered } from './observed.ts';
import { isOfAttempt } from './occupancy.ts';
import { byFirstSight, isUnseen } from './places.ts';
import { newRevision } from './revision.ts';

/** A failed read, and the images whose decisions need it. */
interface Failure {
  error: unknown;
  concerns(image: VMDiskImage): boolean;
}

/**
 * A failed read postpones the images that it concerns. Only all reads together show which slots are free, so after any failure no slot is
 * given or freed.
 */
export async function gather(context: Context, batch: Batch): Promise<(Gathered | Unreadable)[]> {
  const { kube, nowMs, refusals, gracePeriodMs } = context;
  const failures: Failure[] = [];
  const reading = <T>(read: Promise<T>, otherwise: T, concerns: Failure['concerns'] = () => false): Promise<T> =>
    read.catch((error: unknown) => {
      failures.push({ error, concerns });
      return otherwise;
    });
  // The Lease before the images: an image older than the Lease could make a slot look free that was just granted.
  const [policyMap, lease] = await Promise.all([
    kube.get(ConfigMap, policyRef),
    kube.get(Lease, { namespace: operatorNamespace, name: leaseName }),
  ]);
  const holders = holdersOf(lease);
  const held = holders?.map(({ uid }) => uid);
  const isHolder = isAmong(held ?? []);
  const mayHaveAttempt = (image: VMDiskImage) =>
    image.status?.phase ? hasBegunBefore(image) : isStatusLost(image, nowMs);
  const { concurrency, slotsPerNamespace } = parsePolicy(policyMap).values;
  // What no event reports is found by the timers; a policy concerns all that wait.
  const needsAll = batch.sweep || batch.audit || subjectsOf(batch, ConfigMap).length > 0;
  const look = needsAll || !holders ? undefined : await lookAt(context, batch).catch(ifFailed);
  let listed: Promise<DataVolume[]> | undefined;
  const volumesOfHeld = () => (listed ??= madeFor(kube, DataVolume, held));
  const slots = { holders: holders ?? [], concurrency, slotsPerNamespace, nowMs };
  if (look && (await isIdle(batch, look, { ...slots, volumesOfHeld }).catch(ifFailed))) return [];
  const ofHeld = reading(
    holders ? attemptsOfHolders(kube, holders, volumesOfHeld) : attemptsOf(kube, undefined),
    noAttempts,
    held ? isHolder : mayHaveAttempt,
  );
  const listAll = async (): Promise<Focus> => {
    const all = await kube.list(VMDiskImage, { fieldSelector: unfinished });
    return { images: all, unfinished: all, live: new Map() };
  };
  const inFocus = async () => {
    if (!look) return listAll();
    return (await focusOf(kube, look, { ...slots, ...(await ofHeld) }).catch(ifFailed)) ?? listAll();
  };
  // A free slot waits for these reads, so they run concurrently.
  const [focus, ofHolders] = await Promise.all([inFocus(), ofHeld]);
  const open = focus.images;
  // As many as a reconcile may queue; the others are left to later reconciles.
  const withoutStatus = open.filter((image) => isStatusLost(image, nowMs)).sort(byFirstSight);
  const lost = uidsOf(withoutStatus.slice(0, newImagesPerReconcile));
  const later = uidsOf(withoutStatus.slice(newImagesPerReconcile));
  const isLater = isAmong(later);
  // Without a readable Lease, everything was listed just now.
  const untracked = (images: readonly VMDiskImage[]) =>
    held ? uidsOf(images.filter((image) => mayHaveAttempt(image) && !isHolder(image) && !isLater(image))) : [];
  const others = untracked(open);
  const readClasses = () => reading(classesOf(kube), undefined);
  const classesOfOpen = open.length > 0 ? readClasses() : undefined;
  const inputFailures: Failure[] = [];
  const inputsFor = (images: readonly VMDiskImage[]) =>
    readInputs(kube, images, (error, concerns) => inputFailures.push({ error, concerns }));
  const line = inLine(open, { ...slots, ...ofHolders });
  const mayLeave = [
    ...(line.next.length > 0 ? line.first : []),
    ...open.filter(isUnseen).sort(byFirstSight).slice(0, newImagesPerReconcile),
    ...open.filter((image) => mayBeDue(image, nowMs)),
  ];
  const [{ rest, postponed, unread, lacking }, snapshots, ofOthers, inputsOfOpen] = await Promise.all([
    settledImages(kube, batch, focus, holders ?? []),
    reading(listLabelled(kube, VolumeSnapshot, imageUidLabel, lost), [], isAmong(lost)),
    reading(attemptsOf(kube, others), noAttempts, isAmong(others)),
    inputsFor(mayLeave),
  ]);
  // A finished image that is queued again by this reconcile may still have a download that was requested long ago.
  const resumed = untracked(rest.filter(canTransition));
  const [ofResumed, inputsOfRest, classes] = await Promise.all([
    reading(attemptsOf(kube, resumed), noAttempts, isAmong(resumed)),
    inputsFor(rest.filter((image) => lacksInput(image) || newRevision(image) !== undefined)),
    // Without an image no class is needed.
    classesOfOpen ?? (rest.length > 0 ? readClasses() : noClasses),
  ]);
  const images = [...open, ...rest];
  // An image that is newer than the policy as it was read may be allowed by an edit in between.
  const mayBeOlder = open.some((image) => missingLine(parsePolicy(policyMap), downloadOf(image)));
  const currentMap = mayBeOlder ? await kube.get(ConfigMap, policyRef) : policyMap;
  const allFailures = [...failures, ...inputFailures];
  const skipped = images.flatMap((image) => {
    const failure = allFailures.find(({ concerns }) => concerns(image));
    return failure ? [{ uid: image.metadata.uid, why: unreadable(image.metadata, failure.error) }] : [];
  });
  const holding = new Set(holders?.map(({ image }) => image));
  const [gap] = [...failures, ...unread.filter(({ unreadable: ref }) => holding.has(keyOf(ref)))];
  const attempts = [ofHolders, ofOthers, ofResumed];
  const gathered: Gathered = {
    nowMs,
    refusals,
    gracePeriodMs,
    isAudit: batch.audit,
    policy: parsePolicy(currentMap),
    policyMap: currentMap,
    lease,
    images,
    unfinished: focus.unfinished,
    // A user removed the status of a finished image after the unfinished ones were listed. The event of that starts the next reconcile.
    unread: new Set([
      ...skipped.map(({ uid }) => uid),
      ...later,
      ...uidsOf(rest.filter(({ status }) => !status?.phase)),
    ]),
    classes,
    inputs: new Map([...inputsOfOpen, ...inputsOfRest]),
    dataVolumes: attempts.flatMap(({ dataVolumes }) => dataVolumes),
    pods: attempts.flatMap(({ pods }) => pods),
    claims: ofHolders.claims,
    snapshots,
    postponed,
    lacking,
    ...(gap ? { gap: `the slots are not known: ${gap.error}` } : {}),
  };
  return [...unread, ...skipped.map(({ why }) => why), gathered];
}

/** A read that fails, fails in the list as well or is one of an image that the list reads without. */
const ifFailed = (error: unknown) => logError('start-sync', error);

type Reader = Context['kube'];

/** The limit of finished images that a reconcile reads because events name them. */
const namedPerReconcile = 100;

/**
 * Finished images are read only if an event names them, if they still hold a slot, if a cause may be removed, or by the audit.
 */
async function settledImages(
  kube: Reader,
  batch: Batch,
  { images: open, live }: Focus,
  holders: readonly Holder[],
): Promise<{ rest: VMDiskImage[]; postponed: ObjectReference[]; unread: Unreadable[]; lacking: ObjectReference[] }> {
  const isOpen = isAmong(uidsOf(open));
  if (batch.audit) {
    const isHolder = isAmong(holders.map(({ uid }) => uid));
    const found: VMDiskImage[] = [];
    for await (const { items } of kube.pages(VMDiskImage))
      found.push(...items.filter((image) => !isOpen(image) && (canTransition(image) || isHolder(image))));
    const isLater = (image: VMDiskImage) => lacksInput(image) && !isHolder(image);
    const rest = found.filter((image) => !isLater(image));
    return { rest, postponed: [], unread: [], lacking: found.filter(isLater).map(referenceOf) };
  }
  const openKeys = new Set(open.map(({ metadata }) => keyOf(metadata)));
  const wanted = [...holders.map(({ image }) => referenceIn(image)), ...subjectsOf(batch, VMDiskImage)];
  const named = distinct(wanted, keyOf).filter((ref) => !openKeys.has(keyOf(ref)));
  const [policyEvent] = subjectsOf(batch, ConfigMap);
  const imageAt = async (ref: ObjectReference) =>
    live.has(keyOf(ref)) ? live.get(keyOf(ref)) : kube.get(VMDiskImage, ref);
  const found = await Promise.all([
    policyEvent ? orUnreadable(policyEvent, failedByPolicy(kube)) : [],
    ...named.slice(0, namedPerReconcile).map((subject) => orUnreadable(subject, imageAt(subject))),
  ]);
  const { read, unreadable: unread } = partition<VMDiskImage | VMDiskImage[] | undefined>(found);
  const images = read.flat().filter((image) => image !== undefined);
  const rest = uniqueByName(images).filter((image) => !isOpen(image));
  return { rest, postponed: named.slice(namedPerReconcile), unread, lacking: [] };
}

/** The Failed images that a change of the policy may concern: it makes no Secret. */
async function failedByPolicy(kube: Reader): Promise<VMDiskImage[]> {
  const failed = await kube.list(VMDiskImage, { fieldSelector: 'status.phase=Failed' });
  return failed.filter((image) => !lacksInput(image));
}

/** Its back-off is over, unless a user removed its end. */
const mayBeDue = ({ status }: VMDiskImage, nowMs: number) =>
  status?.phase === 'Retrying' && !(Date.parse(status.nextAttemptAt ?? '') > nowMs);

/** The finished images that an audit looks at: all but those that are as wanted. */
const canTransition = (image: VMDiskImage) =>
  image.status?.phase === 'Failed' || newRevision(image) !== undefined || !image.status?.phase || lacksFinalizer(image);

const uidsOf = (images: readonly VMDiskImage[]) => images.map(({ metadata }) => metadata.uid);

const isAmong = (uids: readonly string[]) => {
  const known = new Set(uids);
  return ({ metadata }: VMDiskImage) => known.has(metadata.uid);
};

/** For more images all DataVolumes are listed, because uids are part of the URL. */
const mostUids = 100;

/** A new image is read within seconds. Of an older one a user may have removed the status. */
const newForMs = 5_000;

/** It may have lost its status: the finalizer shows that it had one, or it is not new. */
const isStatusLost = ({ metadata, status }: VMDiskImage, nowMs: number) =>
  !status?.phase &&
  ((metadata.finalizers?.length ?? 0) > 0 || nowMs - Date.parse(metadata.creationTimestamp) > newForMs);

interface Attempts {
  dataVolumes: readonly DataVolume[];
  pods: readonly Pod[];
  claims: readonly PersistentVolumeClaim[];
}

const noAttempts: Attempts = { dataVolumes: [], pods: [], claims: [] };

/** The DataVolumes and Pods of these images; without uids, of all images. */
async function attemptsOf(kube: Reader, uids: readonly string[] | undefined): Promise<Attempts> {
  if (uids?.length === 0) return noAttempts;
  const [dataVolumes, pods] = await Promise.all([madeFor(kube, DataVolume, uids), madeFor(kube, Pod, uids)]);
  return { dataVolumes, pods, claims: [] };
}

/**
 * While the claim of a deleted DataVolume exists, CDI may still create an importer Pod for it. So where the DataVolume of a holder does not
 * exist, the claims are read, and in any case the Pods last.
 */
async function attemptsOfHolders(
  kube: Reader,
  holders: readonly Holder[],
  list: () => Promise<DataVolume[]>,
): Promise<Attempts> {
  if (holders.length === 0) return noAttempts;
  const uids = holders.map(({ uid }) => uid);
  const dataVolumes = await list();
  const areAllThere = holders.every((holder) => dataVolumes.some(isOfAttempt(holder)));
  const claims = areAllThere ? [] : await madeFor(kube, PersistentVolumeClaim, uids);
  return { dataVolumes, claims, pods: await madeFor(kube, Pod, uids) };
}

const madeFor = <T extends KubernetesObject>(
  kube: Reader,
  resource: Resource<T>,
  uids: readonly string[] | undefined,
) =>
  kube.list(resource, {
    labelSelector: uids && uids.length <= mostUids ? isIn(imageUidLabel, uids) : imageUidLabel,
  });

const noClasses: Classes = { storage: new Map(), snapshot: new Map() };

async function classesOf(kube: Reader): Promise<Classes> {
  const [storage, snapshot] = await Promise.all([kube.list(StorageClass), kube.list(VolumeSnapshotClass)]);
  return {
    storage: new Map(storage.map(({ metadata, provisioner }) => [metadata.name, provisioner])),
    snapshot: new Map(snapshot.map(({ metadata, driver }) => [metadata.name, driver])),
  };
}

/** The limit of inputs that are read at once; an image whose inputs were not read gets no slot. */
const mostInputs = 100;

/** Reads each input of the images once. `failed` is called with the error of a read, and with which images name what was not read. */
async function readInputs(
  kube: Reader,
  images: readonly VMDiskImage[],
  failed: (error: unknown, concerns: (image: VMDiskImage) => boolean) => void,
): Promise<Inputs> {
  const wanted = distinct(images.flatMap(inputsOf), idOf).slice(0, mostInputs);
  const inputs = new Map<string, readonly string[] | undefined>();
  const read = async (input: Input) => {
    const found = await kube.get<Secret | ConfigMap>(input.resource, input.ref);
    inputs.set(idOf(input), found && Object.keys(found.data ?? {}));
  };
  await Promise.all(
    wanted.map((input) =>
      read(input).catch((error: unknown) =>
        failed(error, (image) => inputsOf(image).some((one) => idOf(one) === idOf(input))),
      ),
    ),
  );
  return inputs;
}
