import { type Batch, type Context, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { leaseName } from '../../shared/images/slots.ts';
import { downloadOf, missingLine } from '../../shared/images/sources.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, referenceOf } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { parsePolicy, policyRef } from '../../shared/policy.ts';
import { Conflict } from '../../shared/runtime/errors.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import type { Gathered } from './observed.ts';
import { noAttempts, readAttempts, readHolders } from './read/attempts.ts';
import { readClasses } from './read/classes.ts';
import { readDonors } from './read/donors.ts';
import { canTransition, readFinished } from './read/finished.ts';
import { readUnfinished } from './read/focus.ts';
import { type Events, readEvents } from './read/idle.ts';
import { readInputs } from './read/inputs.ts';
import { selectNeeds, selectUnlisted } from './read/needs.ts';
import { ifFailed, isAmong, type Reader, reading, skippedOf, uidsOf } from './read/reader.ts';
import { cachedSlots, readSlots, type Slots } from './read/slots.ts';
import type { Donors } from './slots/donors.ts';
import { lacksInput } from './transition/inputs.ts';
import { newRevision } from './transition/revision.ts';
import { type Unsettled, unsettledIn } from './unsettled.ts';

/**
 * Reads what the decisions need, and no more than the events can concern. A failed read postpones the images that it concerns. Only all reads
 * together show which slots are free, so after any failure no slot is given or freed.
 */
export async function gather(context: Context, batch: Batch): Promise<(Gathered | Unsettled | Unreadable)[]> {
  const { kube, nowMs, refusals, gracePeriodMs } = context;
  const isTimed = batch.sweep || batch.audit;
  // What no event reports is found by the timers; a policy concerns all that wait.
  const isAboutAll = isTimed || subjectsOf(batch, ConfigMap).length > 0;
  const cached = isAboutAll ? undefined : context.cached;
  const reader: Reader = { kube, cached, nowMs, batch, failures: [], inputFailures: [] };

  // 1. The images that events name: with the caches they show that most events leave nothing to do.
  const known = await cachedSlots(reader).catch(ifFailed);
  const early = known && (await readEvents(reader, known).catch(ifFailed));
  if (early?.isIdle) return unsettledIn(early.live.values(), nowMs);

  // 2. The policy and the Lease. Before the images: one older than the Lease could make a slot look free that was just granted.
  const slots = await readSlots(reader);
  // What was read after the Lease of the cache was read after this one, too.
  if (early && known.lease?.metadata.resourceVersion !== slots.lease?.metadata.resourceVersion)
    throw new Conflict(
      `expected Lease ${leaseName} as the watch reported it, found a newer one: another process or a user writes it`,
    );
  const events = early ?? (await readEvents(reader, slots).catch(ifFailed));
  if (events?.isIdle) return unsettledIn(events.live.values(), nowMs);

  const { unread, skipped, unsettled, ...found } = await readRest(reader, slots, events);
  const flags = { isAudit: batch.audit, isTimed, isAboutAll };
  return [...unread, ...skipped, ...unsettled, { nowMs, refusals, gracePeriodMs, ...flags, ...found }];
}

/** What is read where something may have to be done. */
async function readRest(reader: Reader, slots: Slots, events: Events | undefined) {
  const { kube, nowMs, batch } = reader;
  const { holders = [], policyMap, lease } = slots;

  // 3. What the holders download, and the unfinished images that may change. A free slot waits for both, so they are read concurrently.
  const reads = readHolders(reader, slots.holders, events);
  const [focus, ofHolders] = await Promise.all([readUnfinished(reader, slots, events, reads), reads]);

  // 4. What else the decisions about those need, and the finished images that may change.
  const { statusLost, unlisted, moreNew, ...needs } = selectNeeds(reader, slots, focus.images, ofHolders);
  const [settled, snapshots, ofUnlisted, inputs, donors, classes] = await Promise.all([
    readFinished(reader, focus, holders),
    reading(reader, listLabelled(kube, VolumeSnapshot, imageUidLabel, statusLost), [], isAmong(statusLost)),
    reading(reader, readAttempts(kube, unlisted), noAttempts, isAmong(unlisted)),
    readInputs(reader, needs.inputs),
    reading(reader, readDonors(kube, needs.donors), new Map() as Donors, isAmong(uidsOf(needs.donors))),
    readClasses(reader, focus.images),
  ]);
  const { finished, unread, ...ofFinished } = settled;

  // 5. What the finished ones need. One that is queued again may still have a download that was requested long ago.
  const resumed = selectUnlisted(finished.filter(canTransition), slots, moreNew, nowMs);
  const [ofResumed, inputsOfFinished, classesOfFinished] = await Promise.all([
    reading(reader, readAttempts(kube, resumed), noAttempts, isAmong(resumed)),
    readInputs(
      reader,
      finished.filter((image) => lacksInput(image) || newRevision(image) !== undefined),
    ),
    focus.images.length > 0 ? classes : readClasses(reader, finished),
  ]);

  // 6. The policy again: an image that is newer than the policy as it was read may be allowed by an edit in between.
  const mayBeOlder = focus.images.some((image) => missingLine(slots.policy, downloadOf(image)));
  const currentMap = mayBeOlder ? await kube.get(ConfigMap, policyRef) : policyMap;

  const images = [...focus.images, ...finished];
  const skipped = skippedOf(images, reader);
  const holding = new Set(holders.map(({ image }) => image));
  const [gap] = [...reader.failures, ...unread.filter(({ unreadable: ref }) => holding.has(keyOf(ref)))];
  const named = new Set(subjectsOf(batch, VMDiskImage).map(keyOf));
  const attempts = [ofHolders, ofUnlisted, ofResumed];
  return {
    ...ofFinished,
    unread,
    skipped: skipped.map(({ why }) => why),
    unsettled: unsettledIn(
      images.filter(({ metadata }) => named.has(keyOf(metadata))),
      nowMs,
    ),
    policy: parsePolicy(currentMap),
    policyMap: currentMap,
    lease,
    images,
    unfinished: focus.unfinished,
    // A user removed the status of a finished image after the unfinished ones were listed. The event of that starts the next reconcile.
    undecided: new Set([
      ...skipped.map(({ uid }) => uid),
      ...moreNew,
      ...uidsOf(finished.filter(({ status }) => !status?.phase)),
    ]),
    moreNew: focus.images.filter(isAmong(moreNew)).map(referenceOf),
    classes: classesOfFinished,
    inputs: new Map([...inputs, ...inputsOfFinished]),
    donors,
    dataVolumes: attempts.flatMap(({ dataVolumes }) => dataVolumes),
    pods: attempts.flatMap(({ pods }) => pods),
    claims: ofHolders.claims,
    unreadHolders: ofHolders.unreadHolders,
    snapshots,
    ...(gap ? { gap: `the slots are not known: ${gap.error}` } : {}),
  };
}
