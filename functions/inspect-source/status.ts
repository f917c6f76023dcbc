import { waitsForSource } from '../../shared/images/eligible.ts';
import type { SourceFault } from '../../shared/images/inspection.ts';
import { redactUrl } from '../../shared/images/sources.ts';
import { requestDownload, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { bytesOf, formatQuantity } from '../../shared/kubernetes/quantity.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Found, Inspection } from './observed.ts';

interface Verdict {
  status: 'True' | 'False' | 'Unknown';
  reason: SourceFault | 'Inspected' | 'UnknownFormat' | 'NotInspected' | 'SourceUnreachable';
  message: string;
}

export const isFound = (inspection: Inspection): inspection is Found => 'content' in inspection;

/** What an inspection comes to, as condition SourceInspected says it. */
export function verdictOf(image: VMDiskImage, inspection: Inspection, policy: Policy): Verdict {
  if ('notInspected' in inspection) {
    const message = `Not inspected: ${inspection.notInspected}. It is downloaded uninspected.`;
    return { status: 'Unknown', reason: 'NotInspected', message };
  }
  if ('unreachable' in inspection) {
    const rest = waitsForSource(image, policy)
      ? 'the image waits until it can, as the policy has an egressBudget'
      : `the image may get a slot without an inspection ${policy.values.inspectTimeout / 1000} s after it was queued`;
    const message = `${urlOf(image)} cannot be reached: ${inspection.unreachable}. Correct url if its host is wrong. It is tried again; ${rest}.`;
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

/** What a server says in place of the object. */
export const describeAnswer = ({ status, code }: { status: number; code?: string | undefined }) =>
  `the server answers ${[status, code].filter(Boolean).join(' ')}`;

/** There is no object, or S3 has none with such a name. */
export const isMissing = ({ status, code = '' }: { status: number; code: string | undefined }) =>
  status === 404 || status === 410 || ['InvalidBucketName', 'KeyTooLongError'].includes(code);

function refusal(image: VMDiskImage, { status, code }: { status: number; code: string | undefined }): Verdict {
  const answer = code === undefined ? `HTTP ${status}` : `${status} ${code}`;
  const again = thenRetry(image);
  if (isMissing({ status, code })) {
    const message = `Expected an object at ${urlOf(image)}, found none (${answer}). Correct url, which starts a download, or upload the object and then request one: ${requestDownload(image.metadata)}`;
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
