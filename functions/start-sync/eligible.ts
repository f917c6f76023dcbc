import { type Egress, withBudget } from '../../shared/images/egress.ts';
import { inspectionWaitMs } from '../../shared/images/inspection.ts';
import { isQueued } from '../../shared/images/queue.ts';
import { oneOfEachContent, waitsForContent } from '../../shared/images/shared-content.ts';
import type { Holder } from '../../shared/images/slots.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Policy } from '../../shared/policy.ts';

interface Given {
  holders: readonly Pick<Holder, 'uid'>[];
  /** The contents that are being downloaded. */
  underWay: ReadonlySet<string>;
  policy: Policy;
  egress: Egress;
  nowMs: number;
}

/**
 * The queued images that may get a slot now. One that waits for its inspection, for the budget, or for another to download its content keeps
 * none behind it waiting.
 */
export function eligibleOf(
  images: readonly VMDiskImage[],
  { holders, underWay, policy, egress, nowMs }: Given,
): VMDiskImage[] {
  const holding = new Set(holders.map(({ uid }) => uid));
  const ready = images.filter(
    (image) =>
      isQueued(image) &&
      !holding.has(image.metadata.uid) &&
      inspectionWaitMs(image, policy, nowMs) === 0 &&
      !waitsForContent(image, underWay),
  );
  return oneOfEachContent(withBudget(ready, policy, egress, nowMs));
}
