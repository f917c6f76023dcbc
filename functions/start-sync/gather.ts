import { type Batch, type Context, subjectsOf, type Unreadable } from '../../shared/function.ts';
import { leaseName } from '../../shared/images/slots.ts';
import { downloadOf, missingLine } from '../../shared/images/sources.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { mostBeside } from '../../shared/runtime/beside.ts';
import { Conflict } from '../../shared/runtime/errors.ts';
import { listLabelled } from '../../shared/runtime/list-labelled.ts';
import { readPolicyMap } from '../../shared/runtime/read-policy.ts';
import type { Gathered } from './observed.ts';
import { noAttempts, readAttempts, readHolders } from './read/attempts.ts';
import { readClasses } from './read/classes.ts';
import { readDonors } from './read/donors.ts';
import { canTransition, type Finished, readFinished } from './read/finished.ts';
import { type Focus, readUnfinished } from './read/focus.ts';
import { type Events, readEvents } from './read/idle.ts';
import { readInputs } from './read/inputs.ts';
import { selectNeeds, selectUntracked } from './read/needs.ts';
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
  // A page of an audit is about what it names; its end is about all that is unfinished, as a sweep is.
  const isTimed = batch.sweep || (batch.audit && !batch.audited);
  const isAboutPolicy = subjectsOf(batch, ConfigMap).length > 0;
  // What no event reports is found by the timers; a policy concerns all that wait.
  const isAboutAll = isTimed || isAboutPolicy;
  // The end of an audit finds what a watch has lost, and a policy is to reach all that wait.
  const cached = isAboutPolicy || (isTimed && batch.audit) ? undefined : context.cached;
  const { beside = { busy: new Set(), room: mostBeside, isAwaited: false } } = context;
  const reader: Reader = { kube, cached, beside, nowMs, batch, isAboutAll, failures: [], inputFailures: [] };

  // 1. The images that events name: with the caches they show that most events leave nothing to do.
  const known = isAboutAll ? undefined : await cachedSlots(reader).catch(ifFailed);
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

  const { unreadable, ...found } = await readRest(reader, slots, events);
  const named = new Set(subjectsOf(batch, VMDiskImage).map(keyOf));
  const unsettled = unsettledIn(
    found.images.filter(({ metadata }) => named.has(keyOf(metadata))),
    nowMs,
  );
  const flags = { isAudit: batch.audit, isTimed, isAboutAll };
  return [...unreadable, ...unsettled, { nowMs, refusals, gracePeriodMs, downloads: batch.totals, ...flags, ...found }];
}

/** What is read if something may have to be done. */
async function readRest(reader: Reader, slots: Slots, events: Events | undefined) {
  // 3. What the holders download, and the unfinished images that may change. A free slot waits for both, so they are read concurrently.
  const reads = readHolders(reader, slots.holders, events);
  const [focus, ofHolders] = await Promise.all([readUnfinished(reader, slots, events, reads), reads]);

  // 4. What else the decisions about those need, and the finished images that may change.
  const needs = selectNeeds(reader, slots, focus.images, ofHolders);
  const { ofFinished, ofUntracked, ...found } = await readNeeds(reader, slots, focus, needs);
  const { finished, unread: _, ...others } = ofFinished;

  // 5. What the finished ones need. One that is queued again may still have a download that was requested long ago.
  const resumed = selectUntracked(finished.filter(canTransition), slots, needs.moreNew, reader.nowMs);
  const [ofResumed, inputs, classes] = await Promise.all([
    reading(reader, readAttempts(reader.kube, resumed), noAttempts, isAmong(resumed)),
    readInputs(reader, finished.filter(mayNeedInput)),
    focus.images.length > 0 ? found.classes : readClasses(reader, finished),
  ]);

  // 6. The policy again: an image that is newer than the policy as it was read may be allowed by an edit in between.
  const mayBeOlder = focus.images.some((image) => missingLine(slots.policy, downloadOf(image)));
  const policyMap = mayBeOlder ? await readPolicyMap(reader.kube) : slots.policyMap;

  const attempts = [ofHolders, ofUntracked, ofResumed];
  return {
    ...others,
    ...selectUndecided(reader, slots, focus, ofFinished, needs.moreNew),
    policy: parsePolicy(policyMap),
    policyMap,
    lease: slots.lease,
    images: [...focus.images, ...finished],
    unfinished: focus.unfinished,
    classes,
    inputs: new Map([...found.inputs, ...inputs]),
    donors: found.donors,
    dataVolumes: attempts.flatMap(({ dataVolumes }) => dataVolumes),
    pods: attempts.flatMap(({ pods }) => pods),
    claims: ofHolders.claims,
    unreadHolders: ofHolders.unreadHolders,
    snapshots: found.snapshots,
  };
}

async function readNeeds(reader: Reader, { holders = [] }: Slots, focus: Focus, needs: ReturnType<typeof selectNeeds>) {
  const { statusLost, untracked } = needs;
  const [ofFinished, snapshots, ofUntracked, inputs, donors, classes] = await Promise.all([
    readFinished(reader, focus, holders),
    reading(reader, listLabelled(reader.kube, VolumeSnapshot, imageUidLabel, statusLost), [], isAmong(statusLost)),
    reading(reader, readAttempts(reader.kube, untracked), noAttempts, isAmong(untracked)),
    readInputs(reader, needs.inputs),
    reading(reader, readDonors(reader.kube, needs.donors), new Map() as Donors, isAmong(uidsOf(needs.donors))),
    readClasses(reader, focus.images),
  ]);
  return { ofFinished, snapshots, ofUntracked, inputs, donors, classes };
}

const mayNeedInput = (image: VMDiskImage) => lacksInput(image) || newRevision(image) !== undefined;

/** What this reconcile leaves as it is: what needs a read that failed, and new images beyond its limit. */
function selectUndecided(
  reader: Reader,
  { holders = [] }: Slots,
  focus: Focus,
  { finished, unread }: Finished,
  moreNew: readonly string[],
) {
  const skipped = skippedOf([...focus.images, ...finished], reader);
  const holding = new Set(holders.map(({ image }) => image));
  const [gap] = [...reader.failures, ...unread.filter(({ unreadable: ref }) => holding.has(keyOf(ref)))];
  // A user removed the status of a finished image after the unfinished ones were listed. The event of that starts the next reconcile.
  const statusRemoved = finished.filter(({ status }) => !status?.phase);
  return {
    unreadable: [...unread, ...skipped.map(({ why }) => why)],
    undecided: new Set([...reader.beside.busy, ...skipped.map(({ uid }) => uid), ...moreNew, ...uidsOf(statusRemoved)]),
    beside: reader.beside,
    ...(gap ? { gap: `the slots are not known: ${gap.error}` } : {}),
  };
}
