import { distinct, uniqueByName } from '../../shared/distinct.ts';
import { type Batch, type Context, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { quantileOf, rateIn } from '../../shared/images/download-share.ts';
import { budgetLeft, egressIn } from '../../shared/images/egress.ts';
import { basisFrom, durationOf, snapshotDurationOf } from '../../shared/images/forecast.ts';
import { isQueued } from '../../shared/images/queue.ts';
import { wantedContent } from '../../shared/images/shared-content.ts';
import { type Holder, holdersOf, leaseName } from '../../shared/images/slots.ts';
import { downloadOf, missingLine } from '../../shared/images/sources.ts';
import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { Secret } from '../../shared/kinds/core/secret.ts';
import { imageUidLabel, unfinished, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference, referenceIn, referenceOf } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { type Policy, parsePolicy, policyRef } from '../../shared/policy.ts';
import { Conflict } from '../../shared/runtime/errors.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { logError } from '../../shared/runtime/log.ts';
import { orUnreadable, partition, unreadable } from '../../shared/runtime/unreadable.ts';
import { isUnacknowledged, lacksFinalizer, newImagesPerReconcile } from './decide.ts';
import type { Gathered } from './observed.ts';
import { byCreation, isNew } from './queue/new-images.ts';
import { type Attempts, attemptsOf, attemptsOfHolders, noAttempts, toBeRead, volumesOf } from './read/attempts.ts';
import { findDonors } from './read/donors.ts';
import {
  type Focus,
  focusOf,
  type HeldImage,
  hasBegunBefore,
  inLine,
  type Look,
  lookAt,
  withImages,
} from './read/focus.ts';
import { isIdle } from './read/idle.ts';
import type { Donors } from './slots/donors.ts';
import { type Input, type Inputs, idOf, inputsOf, keysOf, lacksInput } from './transition/inputs.ts';
import type { Classes } from './transition/next-transition.ts';
import { newRevision } from './transition/revision.ts';
import { lacksStalled } from './transition/stalled.ts';
import { type Unsettled, unsettledIn } from './unsettled.ts';

/** A failed read, and the images whose decisions need it. */
interface Failure {
  error: unknown;
  concerns(image: VMDiskImage): boolean;
}

/** What every stage of the reading starts from. */
interface Start extends Pick<Context, 'kube' | 'cached' | 'nowMs'> {
  batch: Batch;
  /** Undefined if the Lease cannot be read: any image may hold a slot then. */
  holders: readonly Holder[] | undefined;
  policy: Policy;
  /** The bytes that the policy's egressBudget leaves; undefined without one. */
  bytesLeft: number | undefined;
  /** Failed reads after which not all slots are known, and reads of Secrets and ConfigMaps, which show no slots. */
  failures: Failure[];
  inputFailures: Failure[];
}

/**
 * A failed read postpones the images that it concerns. Only all reads together show which slots are free, so after any failure no slot is
 * given or freed.
 */
export async function gather(context: Context, batch: Batch): Promise<(Gathered | Unsettled | Unreadable)[]> {
  const { kube, nowMs, refusals, gracePeriodMs } = context;
  const glance = isAboutAll(batch) ? undefined : await glanceAt(context, batch).catch(ifFailed);
  if (glance?.isIdle) return unsettledIn(glance.look.live.values(), nowMs);
  // The Lease before the images: an image older than the Lease could make a slot look free that was just granted.
  const [policyMap, lease] = await Promise.all([
    kube.get(ConfigMap, policyRef),
    kube.get(Lease, { namespace: operatorNamespace, name: leaseName }),
  ]);
  const [policy, holders] = [parsePolicy(policyMap), holdersOf(lease)];
  const start: Start = {
    kube,
    cached: isAboutAll(batch) ? undefined : context.cached,
    nowMs,
    batch,
    holders,
    policy,
    bytesLeft: budgetLeft(policy, egressIn(lease), nowMs),
    failures: [],
    inputFailures: [],
  };
  // What was read after the Lease of the cache was read after this one, too.
  if (glance && glance.lease?.metadata.resourceVersion !== lease?.metadata.resourceVersion)
    throw new Conflict(
      `expected Lease ${leaseName} as the watch reported it, found a newer one: another process or a user writes it`,
    );
  const inFocus = await readFocus(context, start, glance);
  if ('idle' in inFocus) return unsettledIn(inFocus.idle.live.values(), nowMs);
  const { focus, ofHolders } = inFocus;
  const groups = groupsOf(start, focus, ofHolders);
  const ofOpen = await readForOpen(start, focus, groups);
  const { rest, postponed, unread, lacking, tookMs, rates, snapshotsMs } = ofOpen.settled;
  const ofRest = await readForRest(start, focus, rest, groups);

  const images = [...focus.images, ...rest];
  // An image that is newer than the policy as it was read may be allowed by an edit in between.
  const mayBeOlder = focus.images.some((image) => missingLine(policy, downloadOf(image)));
  const currentMap = mayBeOlder ? await kube.get(ConfigMap, policyRef) : policyMap;
  const skipped = skippedOf(images, [...start.failures, ...start.inputFailures]);
  const holding = new Set(holders?.map(({ image }) => image));
  const [gap] = [...start.failures, ...unread.filter(({ unreadable: ref }) => holding.has(keyOf(ref)))];
  const attempts = [ofHolders, ofOpen.attempts, ofRest.attempts];
  const gathered: Gathered = {
    nowMs,
    refusals,
    gracePeriodMs,
    isAudit: batch.audit,
    isTimed: isTimed(batch),
    isAboutAll: isAboutAll(batch),
    policy: parsePolicy(currentMap),
    policyMap: currentMap,
    lease,
    images,
    unfinished: focus.unfinished,
    // A user removed the status of a finished image after the unfinished ones were listed. The event of that starts the next reconcile.
    undecided: new Set([
      ...skipped.map(({ uid }) => uid),
      ...groups.moreNew,
      ...uidsOf(rest.filter(({ status }) => !status?.phase)),
    ]),
    classes: focus.images.length > 0 ? ofOpen.classes : ofRest.classes,
    inputs: new Map([...ofOpen.inputs, ...ofRest.inputs]),
    donors: ofOpen.donors,
    dataVolumes: attempts.flatMap(({ dataVolumes }) => dataVolumes),
    pods: attempts.flatMap(({ pods }) => pods),
    claims: ofHolders.claims,
    unreadHolders: ofHolders.unreadHolders,
    snapshots: ofOpen.snapshots,
    postponed,
    moreNew: focus.images.filter(isAmong(groups.moreNew)).map(referenceOf),
    lacking,
    basis: basisFrom(tookMs),
    rate: quantileOf(rates, 0.5),
    longMs: quantileOf(tookMs, 0.9),
    snapshotMs: quantileOf(snapshotsMs, 0.5),
    ...(gap ? { gap: `the slots are not known: ${gap.error}` } : {}),
  };
  const named = new Set(subjectsOf(batch, VMDiskImage).map(keyOf));
  const unsettled = unsettledIn(
    images.filter(({ metadata }) => named.has(keyOf(metadata))),
    nowMs,
  );
  return [...unread, ...skipped.map(({ why }) => why), ...unsettled, gathered];
}

const isTimed = ({ sweep, audit }: Batch) => sweep || audit;

/** What no event reports is found by the timers; a policy concerns all that wait. */
const isAboutAll = (batch: Batch) => isTimed(batch) || subjectsOf(batch, ConfigMap).length > 0;

/** What the images that events name, and the caches, show. */
interface Glance {
  lease: Lease | undefined;
  look: Look;
  toRead: readonly HeldImage[];
  readVolumes(): Promise<readonly DataVolume[]>;
  isIdle: boolean;
}

/**
 * Whether the events leave nothing to do, by the policy and the Lease of the caches. This process alone writes the Lease, and its cache is
 * waited for, an edit of the policy is an event of its own, and nothing is written by what the caches say. Undefined if they are behind.
 */
async function glanceAt(context: Context, batch: Batch): Promise<Glance | undefined> {
  const { kube, cached, nowMs } = context;
  const [policies, leases] = await Promise.all([cached?.(ConfigMap), cached?.(Lease)]);
  if (!policies || !leases) return undefined;
  const [[policyMap], [lease]] = [policies, leases];
  const holders = holdersOf(lease);
  const look = holders && (await lookAt(context, batch));
  if (!look) return undefined;
  const toRead = toBeRead(batch, withImages(holders, look.unfinished.values()));
  const readVolumes = volumesOf(kube, toRead);
  const policy = parsePolicy(policyMap);
  const slots = { policy, bytesLeft: budgetLeft(policy, egressIn(lease), nowMs), nowMs, holders, readVolumes };
  const foundIdle = await isIdle(batch, look, slots).catch(ifFailed);
  return { lease, look, toRead, readVolumes, isIdle: foundIdle === true };
}

/** What was read of the holders, and of which of them nothing was. */
type OfHolders = Attempts & Pick<Gathered, 'unreadHolders'>;

/** The images that events can concern, and the attempts of the holders; or what was seen if nothing is to do. */
async function readFocus(
  context: Context,
  start: Start,
  glance: Glance | undefined,
): Promise<{ focus: Focus; ofHolders: OfHolders } | { idle: Look }> {
  const { kube, batch, holders, nowMs } = start;
  const look =
    glance?.look ?? (isAboutAll(batch) || !holders ? undefined : await lookAt(context, batch).catch(ifFailed));
  const toRead = glance?.toRead ?? toBeReadOf(start, look);
  const readVolumes = glance?.readVolumes ?? volumesOf(kube, toRead);
  const uids = toRead.map(({ holder }) => holder.uid);
  const unreadHolders = new Set(holders?.map(({ uid }) => uid)).difference(new Set(uids));
  const slots = { ...start, holders: holders ?? [], unreadHolders };
  if (!glance && look && (await isIdle(batch, look, { ...slots, readVolumes }).catch(ifFailed))) return { idle: look };
  const ofHeld = reading(
    start,
    holders ? attemptsOfHolders(kube, toRead, readVolumes) : attemptsOf(kube, undefined),
    noAttempts,
    holders ? isAmong(uids) : (image) => mayHaveAttempt(image, nowMs),
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
  return { focus, ofHolders: { ...ofHolders, unreadHolders } };
}

/** Without a look at their images, all holders. */
const toBeReadOf = ({ batch, holders = [] }: Start, look: Look | undefined) =>
  look ? toBeRead(batch, withImages(holders, look.unfinished.values())) : withImages(holders, []);

/** The images in focus, by what else has to be read of them. */
interface Groups {
  /** By uid: without a status, up to what a reconcile may queue; the others are left to the next reconcile. */
  lost: readonly string[];
  moreNew: readonly string[];
  /** By uid: not in the Lease, although they may have an attempt. */
  others: readonly string[];
  /** Those that may be queued or get a slot: their inputs are needed. */
  mayLeave: readonly VMDiskImage[];
  /** Those that may begin now: another image may have their content. */
  beginning: readonly VMDiskImage[];
}

function groupsOf(start: Start, { images: open }: Focus, ofHolders: OfHolders): Groups {
  const { nowMs, holders = [] } = start;
  const withoutStatus = open.filter((image) => mayHaveLostStatus(image, nowMs)).sort(byCreation);
  const moreNew = uidsOf(withoutStatus.slice(newImagesPerReconcile));
  const line = inLine(open, { ...start, holders, ...ofHolders });
  const isHolder = isAmong(holders.map(({ uid }) => uid));
  return {
    lost: uidsOf(withoutStatus.slice(0, newImagesPerReconcile)),
    moreNew,
    others: withUnknownAttempts(start, open, moreNew),
    mayLeave: [
      ...(line.next.length > 0 ? line.first : []),
      ...open.filter(isNew).sort(byCreation).slice(0, newImagesPerReconcile),
      ...open.filter((image) => mayBeDue(image, nowMs)),
    ],
    // The holders, too: a process may have ended before their attempts began.
    beginning: [...line.next, ...open.filter((image) => isQueued(image) && isHolder(image))],
  };
}

/** What the decisions about the images in focus need, and the finished images that this reconcile looks at. */
async function readForOpen(start: Start, focus: Focus, { lost, others, mayLeave, beginning }: Groups) {
  const { kube, batch, holders } = start;
  const contents = distinct(
    beginning.map(wantedContent).filter((content) => content !== undefined),
    (content) => content,
  );
  const [settled, snapshots, attempts, inputs, donors, classes] = await Promise.all([
    settledImages(kube, batch, focus, holders ?? []),
    reading(start, listLabelled(kube, VolumeSnapshot, imageUidLabel, lost), [], isAmong(lost)),
    reading(start, attemptsOf(kube, others), noAttempts, isAmong(others)),
    readInputs(start, mayLeave),
    reading(start, findDonors(kube, contents), new Map() as Donors, isAmong(uidsOf(beginning))),
    readClasses(start, focus.images),
  ]);
  return { settled, snapshots, attempts, inputs, donors, classes };
}

/** A finished image that is queued again by this reconcile may still have a download that was requested long ago. */
async function readForRest(start: Start, focus: Focus, rest: readonly VMDiskImage[], { moreNew }: Groups) {
  const resumed = withUnknownAttempts(start, rest.filter(canTransition), moreNew);
  const [attempts, inputs, classes] = await Promise.all([
    reading(start, attemptsOf(start.kube, resumed), noAttempts, isAmong(resumed)),
    readInputs(
      start,
      rest.filter((image) => lacksInput(image) || newRevision(image) !== undefined),
    ),
    focus.images.length > 0 ? undefined : readClasses(start, rest),
  ]);
  return { attempts, inputs, classes };
}

/** By uid, those that may have an attempt although they hold no slot. Without a readable Lease, everything was listed just now. */
function withUnknownAttempts(
  { holders, nowMs }: Start,
  images: readonly VMDiskImage[],
  moreNew: readonly string[],
): string[] {
  if (!holders) return [];
  const isKnown = isAmong([...holders.map(({ uid }) => uid), ...moreNew]);
  return uidsOf(images.filter((image) => mayHaveAttempt(image, nowMs) && !isKnown(image)));
}

const mayHaveAttempt = (image: VMDiskImage, nowMs: number) =>
  image.status?.phase ? hasBegunBefore(image) : mayHaveLostStatus(image, nowMs);

/** The images that a failed read concerns, each with the first such failure. */
const skippedOf = (images: readonly VMDiskImage[], failures: readonly Failure[]) =>
  images.flatMap((image) => {
    const failure = failures.find(({ concerns }) => concerns(image));
    return failure ? [{ uid: image.metadata.uid, why: unreadable(image.metadata, failure.error) }] : [];
  });

/** The read, or something else if it fails; no slot is given then, and no object reports why. */
const reading = <T>(
  { failures }: Start,
  read: Promise<T>,
  otherwise: T,
  concerns: Failure['concerns'] = () => false,
): Promise<T> =>
  read.catch((error: unknown) => {
    logError('start-sync', error);
    failures.push({ error, concerns });
    return otherwise;
  });

/** A read that fails, fails in the list as well or is one of an image that the list reads without. */
const ifFailed = (error: unknown): undefined => void logError('start-sync', error);

type Reader = Context['kube'];

/** The limit of finished images that a reconcile reads because events name them. */
const namedPerReconcile = 100;

/** Of the finished images. */
interface Settled {
  rest: VMDiskImage[];
  postponed: ObjectReference[];
  unread: Unreadable[];
  lacking: ObjectReference[];
  /** How long each download took, and how many bytes it had a millisecond. */
  tookMs: readonly number[];
  rates: readonly number[];
  /** From the end of each download to a usable snapshot. */
  snapshotsMs: readonly number[];
}

/**
 * Finished images are read only if an event names them, if they still hold a slot, if a cause may be removed, or by the audit.
 */
async function settledImages(
  kube: Reader,
  batch: Batch,
  { images: open, live }: Focus,
  holders: readonly Holder[],
): Promise<Settled> {
  const isOpen = isAmong(uidsOf(open));
  if (batch.audit) {
    const isHolder = isAmong(holders.map(({ uid }) => uid));
    const found: VMDiskImage[] = [];
    const tookMs: number[] = [];
    const rates: number[] = [];
    const snapshotsMs: number[] = [];
    for await (const { items } of kube.pages(VMDiskImage)) {
      found.push(...items.filter((image) => !isOpen(image) && (canTransition(image) || isHolder(image))));
      tookMs.push(...items.flatMap((image) => durationOf(image) ?? []));
      rates.push(...items.flatMap((image) => rateIn(image) ?? []));
      snapshotsMs.push(...items.flatMap((image) => snapshotDurationOf(image) ?? []));
    }
    const isLater = (image: VMDiskImage) => lacksInput(image) && !isHolder(image);
    const rest = found.filter((image) => !isLater(image));
    const known = { tookMs, rates, snapshotsMs };
    return { rest, postponed: [], unread: [], lacking: found.filter(isLater).map(referenceOf), ...known };
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
  const unknown = { tookMs: [], rates: [], snapshotsMs: [] };
  return { rest, postponed: named.slice(namedPerReconcile), unread, lacking: [], ...unknown };
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
  image.status?.phase === 'Failed' ||
  newRevision(image) !== undefined ||
  !image.status?.phase ||
  lacksFinalizer(image) ||
  isUnacknowledged(image) ||
  lacksStalled(image);

const uidsOf = (images: readonly VMDiskImage[]) => images.map(({ metadata }) => metadata.uid);

const isAmong = (uids: readonly string[]) => {
  const known = new Set(uids);
  return ({ metadata }: VMDiskImage) => known.has(metadata.uid);
};

/** A new image is read within seconds. Of an older one a user may have removed the status. */
const newForMs = 5_000;

/** It may have lost its status: the finalizer shows that it had one, or it is not new. */
const mayHaveLostStatus = ({ metadata, status }: VMDiskImage, nowMs: number) =>
  !status?.phase &&
  ((metadata.finalizers?.length ?? 0) > 0 || nowMs - Date.parse(metadata.creationTimestamp) > newForMs);

const noClasses: Classes = { storage: new Map(), snapshot: new Map() };

/** Without an image no class is needed. */
const readClasses = (start: Start, images: readonly VMDiskImage[]) =>
  images.length > 0 ? reading(start, classesFor(start, images), undefined) : noClasses;

/** No image fails for a class that a cache does not have yet. */
async function classesFor({ kube, cached }: Start, images: readonly VMDiskImage[]): Promise<Classes> {
  const [storage, snapshot] = await Promise.all([cached?.(StorageClass), cached?.(VolumeSnapshotClass)]);
  const known = storage && snapshot && classesIn(storage, snapshot);
  const areAllKnown = images.every(
    ({ spec }) => known?.storage.has(spec.storageClass) && known.snapshot.has(spec.snapshotClass),
  );
  if (known && areAllKnown) return known;
  return classesIn(...(await Promise.all([kube.list(StorageClass), kube.list(VolumeSnapshotClass)])));
}

function classesIn(
  storage: readonly ReturnType<typeof StorageClass.parse>[],
  snapshot: readonly ReturnType<typeof VolumeSnapshotClass.parse>[],
): Classes {
  return {
    storage: new Map(storage.map(({ metadata, provisioner }) => [metadata.name, provisioner])),
    snapshot: new Map(snapshot.map(({ metadata, driver }) => [metadata.name, driver])),
  };
}

/** The limit of inputs that are read at once; an image whose inputs were not read gets no slot. */
const mostInputs = 100;

/** Reads each input of the images once; a failed read concerns the images that name what was not read. */
async function readInputs({ kube, inputFailures }: Start, images: readonly VMDiskImage[]): Promise<Inputs> {
  const wanted = distinct(images.flatMap(inputsOf), idOf).slice(0, mostInputs);
  const inputs = new Map<string, ReturnType<typeof keysOf> | undefined>();
  const read = async (input: Input) => {
    const found = await kube.get<Secret | ConfigMap>(input.resource, input.ref);
    inputs.set(idOf(input), found && keysOf(found.data));
  };
  await Promise.all(
    wanted.map((input) =>
      read(input).catch((error: unknown) =>
        inputFailures.push({
          error,
          concerns: (image) => inputsOf(image).some((one) => idOf(one) === idOf(input)),
        }),
      ),
    ),
  );
  return inputs;
}
