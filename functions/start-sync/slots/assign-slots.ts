import { type Action, requeueNamed } from '../../../shared/actions.ts';
import { budgetLeft, egressIn, withinBudget } from '../../../shared/images/egress.ts';
import { egressAnnotationsWith } from '../../../shared/images/egress-shares.ts';
import { eligibleOf } from '../../../shared/images/eligible.ts';
import { inspectionWaitMs } from '../../../shared/images/inspection.ts';
import { byPlace, grantFault, nextInQueue, placeOf } from '../../../shared/images/queue.ts';
import { forecastAnnotation } from '../../../shared/images/queue-forecast.ts';
import { contentsUnderWay, wantedContent } from '../../../shared/images/shared-content.ts';
import { type Holder, holdersOf, leaseRef, serializeHolders, slotsAnnotation } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, referenceIn, referenceOf } from '../../../shared/kinds/resource.ts';
import { recordEvent } from '../../../shared/kubernetes/events.ts';
import { toMicroTime, toTime } from '../../../shared/kubernetes/time.ts';
import type { Observed } from '../observed.ts';
import { queueForecast } from '../queue/forecast.ts';
import { isNew } from '../queue/new-images.ts';
import { areRead } from '../transition/inputs.ts';
import type { Transitioned } from '../transition/take-transition.ts';
import { begin } from './begin.ts';
import { asBegun } from './donors.ts';
import { keptBy, rebuild } from './occupancy.ts';
import { warningsOf } from './warnings.ts';

/** Releases and grants in one write of the Lease, and what each of the granted (and the interrupted) still needs. */
export function assignSlots(
  observed: Observed,
  transitioned: readonly Transitioned[],
): { holders: readonly Holder[]; actions: Action[]; begun: Action[][] } {
  const { lease, nowMs, gap } = observed;
  const listed = holdersOf(lease);
  // A failed read may hide a download, so no slot is given or freed. The events are redelivered.
  if (gap !== undefined) return { holders: listed ?? [], actions: [{ do: 'redeliver', because: gap }], begun: [] };
  const images = transitioned.map(({ next }) => next);
  const byUid = new Map(transitioned.map((one) => [one.image.metadata.uid, one]));
  const imageOf = ({ uid }: Holder) => byUid.get(uid)?.next;
  const before = listed ? [...listed, ...untrackedHolders(listed, observed, imageOf)] : rebuild(observed);
  // An attempt that this reconcile ends keeps its slot until the next: another instance may have begun it since its DataVolumes were listed.
  const kept = before.filter(
    (holder) =>
      keptBy(holder, imageOf(holder), observed) !== undefined ||
      keptBy(holder, byUid.get(holder.uid)?.image, observed) === 'status',
  );
  const starting = listed && mayGrant(observed) ? grants(observed, images, kept) : [];
  const holders = [...kept, ...starting.map((image) => holderFor(image, nowMs))];
  const forecast = queueForecast(observed, images, holders);
  const actions = [
    ...warningsOf(before, kept, imageOf, observed),
    ...saveLease(observed, { listed, kept, holders, starting, forecast: forecast && JSON.stringify(forecast) }),
    ...(listed ? [] : [rebuiltEvent(observed, holders)]),
    ...awaitInspections(observed, transitioned),
    ...kept
      .filter((holder) => holder.image !== '' && keptBy(holder, imageOf(holder), observed) === 'claim')
      .map(awaitClaim),
  ];
  return { holders, actions, begun: holders.map((holder) => begin(holder, imageOf(holder), observed)) };
}

/**
 * Downloads that are not among the holders: a user removed the holder, or CDI returned the DataVolume to an earlier phase (invariants S2
 * and L4). A Failed DataVolume never continues.
 */
function untrackedHolders(
  tracked: readonly Holder[],
  observed: Observed,
  imageOf: (holder: Holder) => VMDiskImage | undefined,
): Holder[] {
  const known = new Set(tracked.map(({ uid }) => uid));
  const dataVolumes = observed.dataVolumes.filter(({ status }) => status?.phase !== 'Failed');
  const downloads = { ...observed, dataVolumes };
  return rebuild(downloads).filter(
    (holder) => !known.has(holder.uid) && keptBy(holder, imageOf(holder), downloads) !== undefined,
  );
}

/** Nothing starts while a policy key it depends on is invalid, or too soon after the Lease was lost. */
function mayGrant({ policy, lease, nowMs, gracePeriodMs }: Observed) {
  const isInGracePeriod = nowMs - acquiredMs(lease) < gracePeriodMs;
  return !isInGracePeriod && grantFault(policy) === undefined;
}

/** No event reports the end of a claim, which usually follows that of its DataVolume within a second. */
const awaitClaim = ({ image }: Holder): Action => ({
  do: 'requeueAfter',
  about: { apiVersion: VMDiskImage.apiVersion, kind: VMDiskImage.kind, metadata: referenceIn(image) },
  afterMs: 2000,
});

/** No event reports that an inspection takes too long. */
export const awaitInspections = ({ policy, nowMs }: Observed, transitioned: readonly Transitioned[]): Action[] =>
  transitioned
    .map(({ next }) => ({ next, waitMs: inspectionWaitMs(next, policy, nowMs) }))
    .filter(({ waitMs }) => waitMs > 0)
    .map(({ next, waitMs }) => requeueNamed(VMDiskImage, referenceOf(next), waitMs));

/** When the Lease was created or rebuilt. A clock that was ahead, or a user, may have put that into the future. */
const acquiredMs = (lease: Lease | undefined) => Date.parse(lease?.spec?.acquireTime ?? '');

/** The images that get a free slot now. */
function grants(
  { policy, nowMs, places, inputs, donors, unfinished, undecided, lease }: Observed,
  images: readonly VMDiskImage[],
  kept: readonly Holder[],
): VMDiskImage[] {
  const newPlaces = images.filter(isNew).map(({ metadata }) => places.get(metadata.uid) ?? '');
  const [firstNew] = newPlaces.sort();
  const known = new Set(images.map(({ metadata }) => metadata.uid));
  const others = unfinished.filter(({ metadata }) => !known.has(metadata.uid));
  const underWay = contentsUnderWay([...images, ...others], kept);
  const egress = egressIn(lease);
  const bytesLeft = budgetLeft(policy, egress, nowMs);
  const queue = eligibleOf(images, { holders: kept, underWay, policy, bytesLeft, nowMs })
    .filter(({ status }) => firstNew === undefined || (status?.queuedAt ?? '') < firstNew)
    .sort((a, b) => byPlace(placeOf(a), placeOf(b)));
  const next = nextInQueue(queue, kept, policy.values);
  // No later image gets a slot before one just being queued, whose Secret is not known to exist, or of which it is not known whether it
  // need be downloaded.
  const isKnown = (content: string | undefined) => content === undefined || donors.has(content);
  const firstUnknown = next.findIndex(
    (image) => undecided?.has(image.metadata.uid) || !areRead(image, inputs) || !isKnown(wantedContent(image)),
  );
  const startable = next.slice(0, firstUnknown < 0 ? undefined : firstUnknown).map((image) => asBegun(image, donors));
  return withinBudget(startable, policy, egress, nowMs);
}

const holderFor = ({ metadata, status }: VMDiskImage, nowMs: number): Holder => ({
  uid: metadata.uid,
  image: keyOf(metadata),
  revision: status?.revision ?? 1,
  attempt: (status?.attempt ?? 0) + 1,
  since: toTime(nowMs),
});

/** The slots before and after this reconcile. */
interface Assignment {
  /** As the Lease has them; undefined if it is lost or unreadable. */
  listed: readonly Holder[] | undefined;
  kept: readonly Holder[];
  holders: readonly Holder[];
  starting: readonly VMDiskImage[];
  forecast: string | undefined;
}

/** One write for the slots and for what the starting images will download, so that no budget is spent twice and no share is lost. */
function saveLease({ lease, nowMs, gracePeriodMs }: Observed, assignment: Assignment): Action[] {
  const { listed, kept, holders, starting, forecast } = assignment;
  const { [slotsAnnotation]: _, ...before } = lease?.metadata.annotations ?? {};
  const isRebuilt = !listed || acquiredMs(lease) - nowMs > gracePeriodMs;
  const hasForecast = forecast === undefined || forecast === before[forecastAnnotation];
  if (!isRebuilt && hasForecast && starting.length === 0 && isSame(listed, kept)) return [];
  const now = toMicroTime(nowMs);
  const egress = starting.length > 0 ? egressAnnotationsWith(lease, starting, nowMs) : {};
  const beside = { ...before, ...egress, ...(forecast ? { [forecastAnnotation]: forecast } : {}) };
  const annotations = { ...beside, [slotsAnnotation]: serializeHolders(holders, beside) };
  const spec = {
    ...lease?.spec,
    holderIdentity: 'start-sync',
    renewTime: now,
    ...(isRebuilt || !lease?.spec?.acquireTime ? { acquireTime: now } : {}),
  };
  if (!lease)
    return [
      { do: 'create', resource: Lease, object: { ...aLease, metadata: { ...aLease.metadata, annotations }, spec } },
    ];
  const object = { ...lease, metadata: { ...lease.metadata, annotations }, spec };
  return [{ do: 'replace', resource: Lease, object }];
}

const isSame = (some: readonly Holder[], others: readonly Holder[]) =>
  some.length === others.length && some.every((holder, index) => holder === others[index]);

const aLease = {
  apiVersion: Lease.apiVersion,
  kind: Lease.kind,
  metadata: leaseRef,
};

function rebuiltEvent({ lease, nowMs }: Observed, holders: readonly Holder[]): Action {
  const about = { ...aLease, metadata: { uid: '', resourceVersion: '', ...lease?.metadata, ...aLease.metadata } };
  const message = `The slot Lease was ${lease ? 'unreadable' : 'missing'}; rebuilt from the downloads that run: ${holders.length} slots held.`;
  return recordEvent(about, lease !== undefined, 'SlotsRebuilt', message, toTime(nowMs));
}
