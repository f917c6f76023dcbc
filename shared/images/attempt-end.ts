import type { Action } from '../actions.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { lasted } from '../lasted.ts';
import type { Policy } from '../policy.ts';
import type { Reason } from '../reasons/reason.ts';
import { traceOfImage } from '../traces.ts';
import { bytesOfAttempt, others } from './egress.ts';
import { requesterOf } from './requester.ts';

/** How an attempt ended: `reason` is the word that condition and Event carry, too. */
interface AttemptEnd {
  result: 'success' | 'failure' | 'superseded';
  reason: Reason;
  nowMs: number;
  policy: Policy;
  /** Nothing was downloaded at all. */
  isUnstarted?: boolean;
}

/**
 * Counts an attempt that ends, how long it took, and what it downloaded at most: CDI does not report the bytes, so the size of
 * the source as inspected stands for them, or that of the disk. Goes behind the status write that ends the attempt, so that it is counted once.
 */
export function attemptEnd(image: VMDiskImage, { result, reason, nowMs, policy, isUnstarted }: AttemptEnd): Action[] {
  const { startedAt: since } = image.status ?? {};
  const bytes = bytesOfAttempt(image);
  const trace = traceOfImage(image);
  return [
    { do: 'measure', metric: 'ot.image.sync.attempts', value: 1, attributes: { result, reason } },
    ...(since ? [lasted({ metric: 'ot.image.sync.duration', since, nowMs, trace, attributes: { result } })] : []),
    ...(isUnstarted || bytes === 0 ? [] : [downloaded(image, bytes, result, policy)]),
  ];
}

/** Of namespaces only those that the policy names are words of the metric: there are as many others as users make. */
function downloaded(image: VMDiskImage, bytes: number, result: string, { values }: Policy): Action {
  const { namespace = '' } = image.metadata;
  const imageNamespace = values.imageNamespaces.includes(namespace) ? namespace : others;
  const attributes = { result, image_namespace: imageNamespace, requester: requesterOf(image).kind };
  return { do: 'measure', metric: 'ot.image.download.estimated', value: bytes, attributes };
}
