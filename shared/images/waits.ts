import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { Policy } from '../policy.ts';
import { isAdopting } from './adoption.ts';
import { gateOf } from './eligible.ts';
import { type FailureReason, failureReasons } from './failure-reasons.ts';
import { grantFault } from './queue.ts';
import { oneOfEachContent } from './shared-content.ts';
import { freeFor, freeIn, type Holder } from './slots.ts';

/** What an image that is not there yet may wait for; of several, the first is reported for a queued image. */
export const waitReasons = [
  'Unseen',
  'InvalidPolicy',
  'QueuePaused',
  'SameContent',
  'BudgetSpent',
  'SourceUnreachable',
  'Inspection',
  'SlotsUnknown',
  'SlotFree',
  'NamespaceFull',
  'SlotsTaken',
  'Backoff',
  'Importer',
  'Download',
  'Snapshot',
  'Adoption',
] as const;
export type WaitReason = (typeof waitReasons)[number];

/** What slots depend on; without holders the Lease does not say. */
interface Slots {
  policy: Policy;
  holders: readonly Holder[] | undefined;
  /** The bytes that the policy's egressBudget leaves; undefined without one. */
  bytesLeft: number | undefined;
  nowMs: number;
  /** The contents that are being downloaded, as far as they are known. */
  underWay?: ReadonlySet<string>;
}

/** What an image waits for, and since when; undefined for one at rest or on its way out. */
export function waitOf(image: VMDiskImage, slots: Slots): { reason: WaitReason; since: string } | undefined {
  const { metadata, status } = image;
  if (metadata.deletionTimestamp) return undefined;
  const movedAt = status?.history?.at(-1)?.time ?? metadata.creationTimestamp;
  switch (status?.phase) {
    case undefined:
      return { reason: 'Unseen', since: metadata.creationTimestamp };
    case 'Queued':
      return { reason: queuedFor(image, slots), since: status.queuedAt ?? movedAt };
    case 'Retrying':
      return { reason: 'Backoff', since: movedAt };
    case 'Syncing':
      return { reason: status.importer ? 'Download' : 'Importer', since: status.startedAt ?? movedAt };
    case 'Snapshotting':
      return { reason: isAdopting(image) ? 'Adoption' : 'Snapshot', since: movedAt };
    default:
      return undefined;
  }
}

/** What each of these images waits for: of those that want the same content, only the first in the queue waits for a free slot. */
export function waitsAmong(images: readonly VMDiskImage[], slots: Slots): Map<VMDiskImage, WaitReason> {
  const waits = new Map<VMDiskImage, WaitReason>();
  for (const image of images) {
    const wait = waitOf(image, slots);
    if (wait) waits.set(image, wait.reason);
  }
  const startable = images.filter((image) => waits.get(image) === 'SlotFree');
  const first = new Set(oneOfEachContent(startable));
  for (const image of startable) if (!first.has(image)) waits.set(image, 'SameContent');
  return waits;
}

const nothing: ReadonlySet<string> = new Set();

function queuedFor(image: VMDiskImage, { policy, holders, bytesLeft, nowMs, underWay = nothing }: Slots): WaitReason {
  const { metadata } = image;
  const { concurrency, slotsPerNamespace } = policy.values;
  if (grantFault(policy)) return 'InvalidPolicy';
  if (concurrency === 0) return 'QueuePaused';
  const gate = gateOf(image, { underWay, policy, bytesLeft, nowMs });
  if (gate) return gate;
  if (!holders) return 'SlotsUnknown';
  if (freeIn(holders, concurrency) === 0) return 'SlotsTaken';
  return freeFor(metadata.namespace, holders, slotsPerNamespace) > 0 ? 'SlotFree' : 'NamespaceFull';
}

/** Why an image has Failed, as one of a closed set of words. */
export function failedFor({ status }: VMDiskImage): FailureReason | 'Other' {
  const readyReason = conditionOf(status?.conditions, 'Ready')?.reason;
  return failureReasons.find((reason) => reason === readyReason) ?? 'Other';
}

/** Since when a slot shows no progress, and whether its image tells any: CDI knows no share of some downloads. */
export function idleSince(holder: Holder, image: VMDiskImage | undefined): { since: string; reportsProgress: boolean } {
  const { progressAt = '', snapshottingAt = '', progress = 'N/A', importer } = image?.status ?? {};
  const since = [holder.since, progressAt, snapshottingAt].sort().at(-1) ?? holder.since;
  return { since, reportsProgress: !importer || progress !== 'N/A' };
}
