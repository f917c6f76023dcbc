import type { Action } from '../../../shared/actions.ts';
import { egressIn, ignoresBudget } from '../../../shared/images/egress.ts';
import { inspectionOf, isUnreachable } from '../../../shared/images/inspection.ts';
import { isQueued } from '../../../shared/images/queue.ts';
import { freeIn, type Holder, holdersOf, leaseName } from '../../../shared/images/slots.ts';
import { updateWhy } from '../../../shared/images/status.ts';
import { keepsFromStarting, type Stop, stopOf } from '../../../shared/images/stopped.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceIn } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { redactMessage } from '../../../shared/kubernetes/events.ts';
import { formatTimeOfDay } from '../../../shared/kubernetes/time.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import type { Policy } from '../../../shared/policy.ts';

interface Input {
  policy: Policy;
  lease: Lease | undefined;
  nowMs: number;
}

/** What a queued image waits for; with a reason of its own if nothing starts at all. */
export function describeQueued(
  image: VMDiskImage,
  input: Input,
): { reason: Stop['reason'] | 'Queued'; message: string } {
  const stop = stopFor(image, input);
  if (stop) return { reason: stop.reason, message: `Waiting: ${stop.why}.` };
  const { slotsPerNamespace: most, inspectTimeout } = input.policy.values;
  const parts = [
    'Waiting for a free slot',
    describeSlots(image, input),
    ...(most === undefined ? [] : [`namespace ${image.metadata.namespace} may hold ${most} (slotsPerNamespace)`]),
    ...(inspectTimeout === 0 ? [] : ['its source is inspected first']),
  ];
  return { reason: 'Queued', message: `${parts.join('; ')}.` };
}

function stopFor(image: VMDiskImage, { policy, lease, nowMs }: Input): Stop | undefined {
  const stop = stopOf(policy, egressIn(lease), nowMs);
  return stop?.reason === 'BudgetSpent' && ignoresBudget(image, policy) ? undefined : stop;
}

/** The limit of holders that a message names. */
const mostNamed = 3;

/** The holders change with each download, and no message with them: it says when they were so, or where they are found. */
function describeSlots({ metadata }: VMDiskImage, { policy, lease, nowMs }: Input): string {
  const { concurrency } = policy.values;
  const holders = holdersOf(lease) ?? [];
  if (freeIn(holders, concurrency) > 0)
    return `Lease ${operatorNamespace}/${leaseName} names the holders, at most ${concurrency}`;
  return `${concurrency === 1 ? 'the only one was' : `all ${concurrency} were`} held at ${formatTimeOfDay(nowMs, nowMs)}, by ${describeHolders(holders, metadata.namespace)}`;
}

/** Of another namespace an author learns no names. */
function describeHolders(holders: readonly Holder[], namespace: string | undefined): string {
  const own = holders.map(({ image }) => image).filter((image) => referenceIn(image).namespace === namespace);
  const names = own.slice(0, mostNamed).join(', ');
  if (names === '') return 'images of other namespaces';
  const more = holders.length - Math.min(own.length, mostNamed);
  return `${names}${more > 0 ? ` and ${more} more` : ''}`;
}

/** It waits, and its status says neither that its source cannot be reached nor that the queue is stopped. */
export const lacksUnreachable = (image: VMDiskImage) =>
  isQueued(image) && isUnreachable(image) && !keepsFromStarting(readyReason(image));

const readyReason = ({ status }: VMDiskImage) => conditionOf(status?.conditions, 'Ready')?.reason;

/**
 * Corrects the message of an image whose source cannot be reached, or that was queued before the queue stopped, or while it was stopped;
 * nothing else is worth a write for each image that waits. Only a sweep takes it back: a pause that is over soon costs nothing.
 */
export function correctWait(image: VMDiskImage, input: Input & { isTimed: boolean }): Action[] {
  if (input.isTimed ? !isQueued(image) : !lacksUnreachable(image)) return [];
  const current = image.status?.message ?? '';
  const before = readyReason(image);
  const found = isUnreachable(image) && !stopFor(image, input) ? inspectionOf(image)?.message : undefined;
  const { reason, message } =
    found === undefined ? describeQueued(image, input) : { reason: 'SourceUnreachable' as const, message: found };
  const isReported =
    reason === 'Queued' ? !keepsFromStarting(before) : before === reason && current.endsWith(redactMessage(message));
  return isReported ? [] : updateWhy(image, { reason, message, nowMs: input.nowMs });
}
