import { budgetLeft, egressIn } from '../../../shared/images/egress.ts';
import { contentsUnderWay } from '../../../shared/images/shared-content.ts';
import { holdersOf, leaseName } from '../../../shared/images/slots.ts';
import { waitsAmong } from '../../../shared/images/waits.ts';
import { requestDownload } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { formatSpan } from '../age.ts';
import type { Finding } from './finding.ts';
import type { Installation } from './installation.ts';

/** Longer than any normal wait: two sweeps and the delivery of their events. */
export const patienceMs = 2 * 60_000;

/** The Lease can be parsed, and no image waits although it could start. */
export function slots({ lease, images, policy, nowMs }: Installation): Finding[] {
  const holders = holdersOf(lease);
  if (lease && holders === undefined) {
    const remedy = `kubectl delete lease ${leaseName} -n ${operatorNamespace} (start-sync creates it again from the running downloads)`;
    return [{ name: `Lease ${leaseName}`, expected: 'slots that parse', found: 'garbage', remedy }];
  }
  const parsed = parsePolicy(policy);
  const waits = waitsAmong(images, {
    policy: parsed,
    holders: holders ?? [],
    bytesLeft: budgetLeft(parsed, egressIn(lease), nowMs),
    nowMs,
    underWay: contentsUnderWay(images, holders ?? []),
  });
  const holding = new Set(holders?.map(({ uid }) => uid));
  return images.flatMap((image): Finding[] => {
    const { metadata, status } = image;
    if (metadata.deletionTimestamp) return [];
    const { phase, queuedAt, startedAt } = status ?? {};
    const stuckMs = (since: string | undefined) => nowMs - Date.parse(since ?? metadata.creationTimestamp);
    const name = `VMDiskImage ${keyOf(metadata)}`;
    const logs = `kubectl logs -n ${operatorNamespace} -l app.kubernetes.io/name=start-sync --tail 50`;
    if (phase === undefined && stuckMs(undefined) > patienceMs)
      return [{ name, expected: 'a phase', found: `none after ${formatSpan(stuckMs(undefined))}`, remedy: logs }];
    if (waits.get(image) === 'SlotFree' && stuckMs(queuedAt) > patienceMs)
      return [
        {
          name,
          expected: 'a slot, as one is free',
          found: `Queued for ${formatSpan(stuckMs(queuedAt))}`,
          remedy: logs,
        },
      ];
    if (phase === 'Syncing' && !holding.has(metadata.uid) && stuckMs(startedAt) > patienceMs) {
      const remedy = requestDownload(metadata);
      return [
        { name, expected: 'a slot while it is Syncing', found: `none, for ${formatSpan(stuckMs(startedAt))}`, remedy },
      ];
    }
    return [];
  });
}
