import { type Estimate, shareBetween } from '../../shared/images/download-share.ts';
import { budgetLeft, egressIn } from '../../shared/images/egress.ts';
import { type Basis, basisOf, forecastOf, mostForecast } from '../../shared/images/forecast.ts';
import { isQueued, nextInQueue } from '../../shared/images/queue.ts';
import { contentsUnderWay } from '../../shared/images/shared-content.ts';
import { holdersOf } from '../../shared/images/slots.ts';
import { type WaitReason, waitsAmong } from '../../shared/images/waits.ts';
import type { Lease } from '../../shared/kinds/coordination/lease.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { oneLine } from '../../shared/sentence.ts';
import { type Look, type Span, styled } from '../terminal/paint.ts';
import { phaseSpan } from '../terminal/phase-style.ts';
import { tableLines } from '../terminal/table.ts';
import { formatAge, formatSpan } from './age.ts';
import { describeStopped, type Stopped, stoppedBy } from './stopped.ts';

export interface Read {
  images: readonly VMDiskImage[];
  lease: Lease | undefined;
  policy: Policy;
}

/** The output of `queue`, for users and for scripts. */
export interface QueueView {
  concurrency: number;
  /** Why no image starts even if slots are free; null if images may start. */
  stopped: Stopped | null;
  /** `progress` with a ~ is estimated, by the size of the source and the rate of earlier downloads. */
  slots: { image: string; since: string; phase: string; progress: string; attempt: number }[];
  /** `isNext`: a slot is free for it. */
  waiting: {
    place: number;
    image: string;
    since: string;
    isNext: boolean;
    waitsFor: WaitReason | null;
    startsAt: string | null;
    why: string;
  }[];
  /** These join the end of the queue at their time. */
  retrying: { image: string; at: string; why: string }[];
  basis: Basis | null;
}

/** The queue as start-sync sees it, with a forecast. */
export function queueOf({ images, lease, policy }: Read, nowMs: number): QueueView {
  const { concurrency } = policy.values;
  const known = holdersOf(lease);
  const holders = known ?? [];
  const held = new Set(holders.map(({ uid }) => uid));
  const byUid = new Map(images.map((image) => [image.metadata.uid, image]));
  const basis = basisOf(images);
  const stopped = stoppedBy(policy, lease, { hasWaiting: images.some(isQueued), nowMs }) ?? null;
  const from = { images, holders, limits: policy.values, isStopped: stopped !== null, basis };
  const { queue: line, slots, starts } = forecastOf(from, nowMs);
  const bytesLeft = budgetLeft(policy, egressIn(lease), nowMs);
  const underWay = contentsUnderWay(images, holders);
  const waits = waitsAmong(line, { policy, holders: known, bytesLeft, nowMs, underWay });
  const next = new Set(
    stopped
      ? []
      : nextInQueue(
          line.filter((image) => waits.get(image) === 'SlotFree'),
          holders,
          policy.values,
        ),
  );
  const retrying = images.filter(
    ({ status, metadata }) => status?.phase === 'Retrying' && !metadata.deletionTimestamp && !held.has(metadata.uid),
  );
  return {
    concurrency,
    stopped,
    slots: slots.map(({ holder: { uid, image, since, attempt }, estimate }) => {
      const found = byUid.get(uid);
      const { phase = gone, progress = '' } = found?.status ?? {};
      return {
        image: found ? keyOf(found.metadata) : image,
        since,
        attempt,
        phase,
        progress: estimate ? describeEstimate(estimate, nowMs) : progress,
      };
    }),
    waiting: line.map((image, index) => ({
      place: index + 1,
      image: keyOf(image.metadata),
      since: image.status?.queuedAt ?? image.metadata.creationTimestamp,
      isNext: next.has(image),
      waitsFor: waits.get(image) ?? null,
      startsAt: timeOf(starts[index]),
      why: image.status?.message ?? '',
    })),
    retrying: retrying
      .map(({ metadata, status }) => ({
        image: keyOf(metadata),
        at: status?.nextAttemptAt ?? '',
        why: status?.message ?? '',
      }))
      .sort((a, b) => a.at.localeCompare(b.at)),
    basis: basis ?? null,
  };
}

/** In place of a phase: the slot is of an image that no longer exists. */
const gone = 'Gone';

/** The status of an image says what it waited for when it was queued; in place of that, what it waits for now. */
const whyOf = ({ waitsFor, why }: Pick<QueueView['waiting'][number], 'waitsFor' | 'why'>) =>
  (waitsFor && waitsNow[waitsFor]) ?? why;

const waitsNow: Partial<Record<WaitReason, string>> = {
  InvalidPolicy: 'Waiting for a policy that parses.',
  QueuePaused: 'Waiting for the end of the pause.',
  BudgetSpent: 'Waiting for what the egressBudget leaves again.',
  SlotFree: 'Waiting for a free slot.',
  SlotsTaken: 'Waiting for a free slot.',
  NamespaceFull: 'Waiting for a slot of its namespace (slotsPerNamespace).',
  SameContent: 'Waiting for another image of the same content, from which it is cloned.',
  Inspection: 'Waiting for the inspection of its source.',
};

/** "~42%, about 3m left" */
function describeEstimate(estimate: Estimate, nowMs: number): string {
  const leftMs = estimate.toMs - nowMs;
  const left = leftMs > 0 ? `about ${formatSpan(leftMs)} left` : 'late';
  return `~${Math.round(shareBetween(estimate, nowMs) * 100)}%, ${left}`;
}

const timeOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

/** Each existing image of it once, in words that neither a forecast nor the start of another image changes. */
export const queueObjects = ({ slots, waiting, retrying }: QueueView): { image: string; says: string }[] => [
  ...slots
    .filter(({ phase }) => phase !== gone)
    .map(({ image, phase, attempt }) => ({ image, says: `holds a slot: ${phase}, attempt ${attempt}` })),
  ...waiting.map((one) => ({ image: one.image, says: `waits: ${oneLine(whyOf(one))}` })),
  ...retrying.map(({ image, at, why }) => ({ image, says: `tries again at ${at}: ${oneLine(why)}` })),
];

/** What stops all of it, the slots, the queue, and the images that join it later. */
export function queueLines(view: QueueView, nowMs: number, look: Look): string[] {
  const { slots, waiting, retrying, stopped } = view;
  return [
    ...(stopped ? [describeStopped(stopped)] : []),
    `${describeSlots(view)}, ${waiting.length} waiting, ${retrying.length} to be retried.`,
    ...section(slots.length, ['SLOT', 'IMAGE', 'SINCE', 'PHASE', 'PROGRESS', 'ATTEMPT'], look, () =>
      slots.map(({ image, since, phase, progress, attempt }, index) => [
        String(index + 1),
        image,
        formatAge(since, nowMs),
        phaseSpan(phase as 'Syncing'),
        progress,
        String(attempt),
      ]),
    ),
    ...section(waiting.length, ['PLACE', 'IMAGE', 'WAITS', 'STARTS', 'WHY'], look, () =>
      waiting.map(({ place, image, since, isNext, waitsFor, startsAt, why }) => [
        String(place),
        image,
        formatAge(since, nowMs),
        describeStart(startsAt, nowMs, { isNext, waitsFor }),
        styled('dim', whyOf({ waitsFor, why })),
      ]),
    ),
    ...section(retrying.length, ['AGAIN', 'IMAGE', 'WHY'], look, () =>
      retrying.map(({ image, at, why }) => [describeIn(at, nowMs), image, styled('dim', why)]),
    ),
    ...(waiting.length > 0 ? ['', describeBasis(view)] : []),
  ];
}

/** Who holds a slot keeps it when there are fewer. */
export const describeSlots = ({ slots, concurrency }: QueueView) =>
  slots.length > concurrency
    ? `${slots.length} ${slots.length === 1 ? 'slot' : 'slots'} still held, ${concurrency} allowed`
    : concurrency === 0
      ? 'no slots'
      : `${slots.length} of ${concurrency} slots held`;

function section(count: number, titles: readonly string[], look: Look, rows: () => Span[][]): string[] {
  if (count === 0) return [];
  return [
    '',
    ...tableLines(
      titles.map((title) => ({ title })),
      rows(),
      look,
    ),
  ];
}

/** The image may start once its source is inspected. */
export const isUninspected = (waitsFor: WaitReason | null | undefined) =>
  waitsFor === 'Inspection' || waitsFor === 'SourceUnreachable';

/** A slot whose download takes longer than the forecast may become free at any moment. */
function describeStart(
  startsAt: string | null,
  nowMs: number,
  { isNext, waitsFor }: Pick<QueueView['waiting'][number], 'isNext' | 'waitsFor'>,
): string {
  if (startsAt === null) return 'unknown';
  if (isNext) return 'now';
  const leftMs = Date.parse(startsAt) - nowMs;
  if (leftMs > 0) return `in about ${formatSpan(leftMs)}`;
  return isUninspected(waitsFor) ? 'once inspected' : 'any moment';
}

const describeIn = (at: string, nowMs: number) =>
  Date.parse(at) > nowMs ? `in ${formatSpan(Date.parse(at) - nowMs)}` : 'now';

function describeBasis({ basis, stopped, waiting }: QueueView): string {
  if (stopped) return 'STARTS is unknown while nothing starts.';
  if (!basis) return 'STARTS is unknown: no existing image has a finished download to estimate from.';
  const { count, medianMs, leastMs, mostMs } = basis;
  const source =
    count === 1
      ? `the one finished download of an existing image (${formatSpan(medianMs)})`
      : `the ${count} finished downloads of existing images (median ${formatSpan(medianMs)}, ${formatSpan(leastMs)} to ${formatSpan(mostMs)})`;
  const behind = waiting.length > mostForecast ? ` Behind place ${mostForecast} it is unknown.` : '';
  return `STARTS is estimated from ${source}; failures and retries are not considered.${behind}`;
}
