import { type Action, requeueNamed } from '../../shared/actions.ts';
import { nextLookMs } from '../../shared/backoff.ts';
import { waitsForSource } from '../../shared/images/eligible.ts';
import { queuedMs, type SourceFault } from '../../shared/images/inspection.ts';
import { sharedContentOf } from '../../shared/images/shared-content.ts';
import { redactUrl } from '../../shared/images/sources.ts';
import { requestDownload, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/kinds/resource.ts';
import { withCondition } from '../../shared/kubernetes/conditions.ts';
import { recordEvent, redactMessage } from '../../shared/kubernetes/events.ts';
import { bytesOf, formatQuantity } from '../../shared/kubernetes/quantity.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Found, Inspection, Observed } from './observed.ts';
import { identityFields, refresh } from './refresh.ts';

interface Verdict {
  status: 'True' | 'False' | 'Unknown';
  reason: SourceFault | 'Inspected' | 'UnknownFormat' | 'NotInspected' | 'SourceUnreachable';
  message: string;
}

/** Writes what was found at a source; start-sync decides what becomes of the image. */
export function decide(observed: Observed): Action[] {
  if ('postponed' in observed) return [requeueNamed(VMDiskImage, observed.postponed, observed.afterMs)];
  if ('refreshed' in observed) return refresh(observed);
  const { image, inspection, nowMs, policy } = observed;
  const verdict = verdictOf(image, inspection, policy);
  const { generation, uid } = image.metadata;
  const now = toTime(nowMs);
  const message = redactMessage(verdict.message);
  const condition = { ...verdict, message, type: 'SourceInspected', observedGeneration: generation };
  const conditions = withCondition(image.status?.conditions, condition, now);
  const source = { ...nothing, ...factsOf(image, inspection), inspectedAt: now, queuedAt: image.status?.queuedAt };
  const once = `${uid}/${image.status?.queuedAt}`;
  return [
    { do: 'patchStatus', resource: VMDiskImage, of: image, status: { source, conditions } },
    ...(verdict.reason === 'UnknownFormat' ? [recordEvent(image, true, verdict.reason, message, once)] : []),
    ...(verdict.reason === 'SourceUnreachable'
      ? [requeueNamed(VMDiskImage, referenceOf(image), reinspectAfterMs(image, nowMs))]
      : []),
  ];
}

const nothing = {
  ...{ bytes: null, format: null, virtualSize: null, etag: null, content: null, lastModified: null },
  ...{ lookedAt: null, changed: null },
} as const;

const isFound = (inspection: Inspection): inspection is Found => 'content' in inspection;

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

function verdictOf(image: VMDiskImage, inspection: Inspection, policy: Policy): Verdict {
  if ('notInspected' in inspection) {
    const message = `Not inspected: ${inspection.notInspected}. It is downloaded uninspected.`;
    return { status: 'Unknown', reason: 'NotInspected', message };
  }
  if ('unreachable' in inspection) {
    const rest = waitsForSource(image, policy)
      ? 'the image waits until it can, as the policy has an egressBudget'
      : `the image may get a slot without an inspection ${policy.values.inspectTimeout / 1000} s after it was queued`;
    const message = `${urlOf(image)} cannot be reached: ${inspection.unreachable}. It is tried again; ${rest}.`;
    return { status: 'False', reason: 'SourceUnreachable', message };
  }
  if (!isFound(inspection)) return refusal(image, inspection);
  const fault = faultIn(image, inspection);
  if (fault) return { status: 'False', ...fault };
  const { content, bytes } = inspection;
  if (content.format === undefined) {
    const message = `${urlOf(image)} begins like no known format: it is downloaded as a raw disk. If it is none, publish a disk image and request another download.`;
    return { status: 'True', reason: 'UnknownFormat', message };
  }
  const size = bytes === undefined ? '' : ` of ${formatQuantity(bytes)}`;
  const disk = content.virtualSize === undefined ? '' : `, a disk of ${formatQuantity(content.virtualSize)}`;
  return { status: 'True', reason: 'Inspected', message: `${content.format}${size}${disk}.` };
}

const urlOf = ({ spec }: VMDiskImage) => redactUrl(spec.url);

const thenRetry = ({ metadata }: VMDiskImage) => `then request another download: ${requestDownload(metadata)}`;

/** There is no object, or S3 has none with such a name. */
export const isMissing = ({ status, code = '' }: { status: number; code: string | undefined }) =>
  status === 404 || status === 410 || ['InvalidBucketName', 'KeyTooLongError'].includes(code);

function refusal(image: VMDiskImage, { status, code }: { status: number; code: string | undefined }): Verdict {
  const answer = code === undefined ? `HTTP ${status}` : `${status} ${code}`;
  const again = thenRetry(image);
  if (isMissing({ status, code })) {
    const message = `Expected an object at ${urlOf(image)}, found none (${answer}). Upload it or correct the URL, ${again}`;
    return { status: 'False', reason: 'SourceMissing', message };
  }
  const { secretRef } = image.spec;
  const also =
    code === 'AccessDenied' ? ' (S3 says so of a missing object, too, to keys that may not list its bucket)' : '';
  const remedy = secretRef
    ? `Correct the keys in Secret ${secretRef} or what they may read${also}`
    : 'Allow it to be read';
  const message = `${urlOf(image)} may not be read (${answer}). ${remedy}, ${again}`;
  return { status: 'False', reason: 'SourceForbidden', message };
}

function faultIn(image: VMDiskImage, { content, bytes, isCut }: Found) {
  const { spec } = image;
  const url = redactUrl(spec.url);
  const again = thenRetry(image);
  if (content.instead !== undefined) {
    const message = `Expected a disk image at ${url}, found ${content.instead}. Publish a disk image there, ${again}`;
    return { reason: 'NotAnImage', message } as const;
  }
  if (content.backingFile !== undefined) {
    const message = `The qcow2 image at ${url} needs its backing file ${JSON.stringify(content.backingFile)}, which is not downloaded. Publish the image without one (qemu-img convert), ${again}`;
    return { reason: 'BackingFile', message } as const;
  }
  if (isCut) {
    const message = `The qcow2 image at ${url} is longer than the ${formatQuantity(bytes ?? 0)} that are there: its upload was cut off, most likely. Upload it again, ${again}`;
    return { reason: 'ImageTruncated', message } as const;
  }
  const { virtualSize = 0 } = content;
  if (virtualSize <= (bytesOf(spec.diskSize) ?? Number.POSITIVE_INFINITY)) return undefined;
  const message = `Expected a disk of at most ${spec.diskSize} (diskSize) in ${url}, found one of ${formatQuantity(virtualSize)} (${virtualSize} bytes). Enlarge diskSize.`;
  return { reason: 'DiskTooSmall', message } as const;
}
