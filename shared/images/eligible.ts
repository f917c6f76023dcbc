import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { Policy } from '../policy.ts';
import { ignoresBudget } from './egress.ts';
import { inspectionWaitMs, isUnreachable } from './inspection.ts';
import { isQueued } from './queue.ts';
import { oneOfEachContent, waitsForContent } from './shared-content.ts';
import type { Holder } from './slots.ts';

/** What keeps a queued image from a slot, however many are free. */
export type Gate = 'SameContent' | 'BudgetSpent' | 'SourceUnreachable' | 'Inspection';

export interface Gates {
  /** The contents that are being downloaded. */
  underWay: ReadonlySet<string>;
  policy: Policy;
  /** The bytes that the policy's egressBudget leaves; undefined without one. */
  bytesLeft: number | undefined;
  nowMs: number;
}

/** An image whose source cannot be reached waits until it can where there is a budget: a mistyped host would spend the size of a whole disk. */
export const waitsForSource = (image: VMDiskImage, policy: Policy) =>
  policy.values.egressBudget !== undefined && !ignoresBudget(image, policy);

/** The first closed gate of a queued image; undefined if all are open. */
export function gateOf(image: VMDiskImage, { underWay, policy, bytesLeft, nowMs }: Gates): Gate | undefined {
  if (waitsForContent(image, underWay)) return 'SameContent';
  if (bytesLeft !== undefined && bytesLeft <= 0 && !ignoresBudget(image, policy)) return 'BudgetSpent';
  if (waitsForSource(image, policy) && isUnreachable(image)) return 'SourceUnreachable';
  return inspectionWaitMs(image, policy, nowMs) > 0 ? 'Inspection' : undefined;
}

interface Given extends Gates {
  holders: readonly Pick<Holder, 'uid'>[];
}

/** The queued images that may get a slot now. One behind a closed gate, or behind another of its content, keeps none behind it waiting. */
export function eligibleOf(images: readonly VMDiskImage[], { holders, ...gates }: Given): VMDiskImage[] {
  const holding = new Set(holders.map(({ uid }) => uid));
  return oneOfEachContent(
    images.filter((image) => isQueued(image) && !holding.has(image.metadata.uid) && gateOf(image, gates) === undefined),
  );
}
