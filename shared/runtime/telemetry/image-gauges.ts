import { budgetLeft, egressIn } from '../../images/egress.ts';
import { failureReasons } from '../../images/failure-reasons.ts';
import { contentsUnderWay, wantedContent } from '../../images/shared-content.ts';
import { type Holder, holdersOf } from '../../images/slots.ts';
import { failedFor, idleSince, waitOf, waitReasons } from '../../images/waits.ts';
import type { Lease } from '../../kinds/coordination/lease.ts';
import { phases, VMDiskImage } from '../../kinds/pelotech/vm-disk-image.ts';
import type { Policy } from '../../policy.ts';
import type { Kube } from '../kube.ts';
import { add, countIn, point, unseen } from './gauge-points.ts';

/** What the images that are not there yet come to; undefined is what the policy or the Lease would have to say. */
export interface Images {
  byPhase: ReadonlyMap<string, number>;
  failed: ReadonlyMap<string, number>;
  waits: ReadonlyMap<string, Since> | undefined;
  /** Of the slots that are held, by what their downloads tell. */
  idle: ReadonlyMap<string, Since> | undefined;
}

/** How many there are, and since when the first of them. */
interface Since {
  count: number;
  sinceMs: number;
}

/** Counts page by page, so that thousands of images cost no more memory than one page and a few words of each that waits. */
export async function countImages(
  kube: Pick<Kube, 'pages'>,
  policy: Promise<Policy>,
  lease: Promise<Lease | undefined>,
): Promise<Images> {
  const [byPhase, failed] = [new Map<string, number>(), new Map<string, number>()];
  const idle = new Map<string, Since>();
  const known = await policy.catch(() => undefined);
  const slots = await lease.catch(() => undefined);
  const [holders, nowMs] = [holdersOf(slots), Date.now()];
  const waits =
    known && waitsBy({ policy: known, holders, bytesLeft: budgetLeft(known, egressIn(slots), nowMs), nowMs });
  const held = new Map(holders?.map((holder) => [holder.uid, holder]));
  const addIdle = ({ since, reportsProgress }: ReturnType<typeof idleSince>) =>
    addSince(idle, reportsProgress ? 'reported' : 'unreported', since);
  for await (const { items } of kube.pages(VMDiskImage, { fieldSelector: 'status.phase!=Succeeded' })) {
    for (const image of items) {
      const { metadata, status } = image;
      add(byPhase, status?.phase ?? unseen);
      if (status?.phase === 'Failed') add(failed, failedFor(image));
      const holder = held.get(metadata.uid);
      waits?.look(image, holder ? [holder] : []);
      if (holder && held.delete(metadata.uid)) addIdle(idleSince(holder, image));
    }
  }
  for (const holder of held.values()) addIdle(idleSince(holder, undefined));
  return { byPhase, failed, waits: waits?.counted(), idle: holders && idle };
}

/** Counts what images wait for. Which of them wait for another of the same content is known only after the last. */
function waitsBy(slots: Parameters<typeof waitOf>[1]) {
  const underWay = new Set<string>();
  const waiting: { since: string; alone: string; shared: string; content: string | undefined }[] = [];
  return {
    look: (image: VMDiskImage, holders: readonly Holder[]) => {
      for (const content of contentsUnderWay([image], holders)) underWay.add(content);
      const content = wantedContent(image);
      const alone = waitOf(image, slots);
      const shared = content === undefined ? alone : waitOf(image, { ...slots, underWay: new Set([content]) });
      if (alone && shared) waiting.push({ since: alone.since, alone: alone.reason, shared: shared.reason, content });
    },
    counted: () => {
      const waits = new Map<string, Since>();
      for (const { since, alone, shared, content } of waiting)
        addSince(waits, content !== undefined && underWay.has(content) ? shared : alone, since);
      return waits;
    },
  };
}

/** The points of all gauges of images on their way. */
export const imagePoints = (images: Images | undefined, nowMs: number) => [
  point('ot.image.queue.length', countIn(images?.byPhase, 'Queued')),
  ...[unseen, ...phases.filter((phase) => phase !== 'Succeeded')].map((phase) =>
    point('ot.images', countIn(images?.byPhase, phase), { phase }),
  ),
  ...waitReasons.map((reason) => point('ot.image.waits', countOf(images?.waits, reason), { reason })),
  ...waitReasons.map((reason) => point('ot.image.wait.duration', secondsOf(images?.waits, reason, nowMs), { reason })),
  ...[...failureReasons, 'Other'].map((reason) =>
    point('ot.image.failed', countIn(images?.failed, reason), { reason }),
  ),
  ...['reported', 'unreported'].map((progress) =>
    point('ot.slots.idle.duration', secondsOf(images?.idle, progress, nowMs), { progress }),
  ),
];

/** A time that cannot be read is no longer ago than any other. */
function addSince(all: Map<string, Since>, key: string, since: string): void {
  const { count, sinceMs } = all.get(key) ?? { count: 0, sinceMs: Number.POSITIVE_INFINITY };
  all.set(key, { count: count + 1, sinceMs: Math.min(sinceMs, Date.parse(since) || Number.POSITIVE_INFINITY) });
}

const countOf = (all: Images['waits'], key: string) => all && (all.get(key)?.count ?? 0);

const secondsOf = (all: Images['waits'], key: string, nowMs: number) =>
  all && Math.max(0, nowMs - (all.get(key)?.sinceMs ?? Number.POSITIVE_INFINITY)) / 1000;
