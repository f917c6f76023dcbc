import { type Action, requeueNamed } from '../../shared/actions.ts';
import { nextLookMs } from '../../shared/backoff.ts';
import { queuedMs } from '../../shared/images/inspection.ts';
import { sharedContentOf } from '../../shared/images/shared-content.ts';
import { patchStatus } from '../../shared/images/status.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/kinds/resource.ts';
import { withCondition } from '../../shared/kubernetes/conditions.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import type { Inspection, Observed } from './observed.ts';
import { identityFields, refresh } from './refresh.ts';
import { isFound, verdictOf } from './status.ts';

/** Writes what was found at a source; start-sync decides what becomes of the image. */
export function decide(observed: Observed): Action[] {
  if ('postponed' in observed) return [requeueNamed(VMDiskImage, observed.postponed, observed.afterMs)];
  if ('refreshed' in observed) return refresh(observed);
  const { image, inspection, nowMs, policy } = observed;
  const verdict = verdictOf(image, inspection, policy);
  const { generation, uid } = image.metadata;
  const now = toTime(nowMs);
  const condition = { ...verdict, type: 'SourceInspected', observedGeneration: generation };
  const conditions = withCondition(image.status?.conditions, condition, now);
  const source = { ...nothing, ...factsOf(image, inspection), inspectedAt: now, queuedAt: image.status?.queuedAt };
  const once = `${uid}/${image.status?.queuedAt}`;
  return [
    patchStatus(image, { source, conditions }),
    ...(verdict.reason === 'UnknownFormat' ? [recordEvent(image, true, verdict.reason, verdict.message, once)] : []),
    ...(verdict.reason === 'SourceUnreachable'
      ? [requeueNamed(VMDiskImage, referenceOf(image), reinspectAfterMs(image, nowMs))]
      : []),
  ];
}

const nothing = {
  ...{ bytes: null, format: null, virtualSize: null, etag: null, content: null, lastModified: null },
  ...{ lookedAt: null, changed: null },
} as const;

function factsOf(image: VMDiskImage, inspection: Inspection) {
  if (!isFound(inspection)) return {};
  const { bytes, etag, content } = inspection;
  return {
    bytes: countOf(bytes),
    format: content.format ?? null,
    virtualSize: countOf(content.virtualSize),
    content: sharedContentOf(image, { bytes, etag }) ?? null,
    ...identityFields(inspection),
  };
}

/** A header may claim any size; the API server refuses what is no int64. */
const countOf = (found: number | undefined) => (Number.isSafeInteger(found) ? (found ?? null) : null);

/** The time after which a source that could not be reached is inspected again. */
export const reinspectAfterMs = (image: VMDiskImage, lookedMs: number) =>
  nextLookMs(lookedMs - queuedMs(image), 2000, 300_000);
