import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { ImageCheck } from '../object-store/qcow2-check.ts';
import type { KeyPair } from '../object-store/sigv4.ts';
import { checkedSum } from './checksum.ts';
import { convert } from './convert.ts';
import { decompress } from './decompress.ts';
import type { Download } from './download.ts';
import { type FailureReason, ImportFailure, inGoWords } from './failure.ts';
import { openHttp } from './http-source.ts';
import { imageCheck } from './image-check.ts';
import { peek } from './peek.ts';
import { type Compression, headerBytes, type ImageFormat, recognise } from './recognise.ts';
import { openS3 } from './s3-source.ts';

/** One run of CDI's importer: the source of an image and the volume for it. */
export interface ImportRequest {
  sourceType: 's3' | 'http';
  url: string;
  credentials?: KeyPair;
  /** `algorithm:hex` of what is downloaded; md5, sha1, sha256 or sha512; only with http, as CDI has it. */
  checksum?: string;
  /** How large the claim is. */
  capacityBytes: number;
  /** Whether there is a scratch volume. */
  scratch: boolean;
  signal: AbortSignal;
  /** Hears of every chunk; `total` is not known from S3, as CDI does not look at it. */
  onBytes?: (received: number, total: number | undefined) => void;
  onConversion?: (percent: number) => void;
  conversionMs?: number;
  clock: Clock;
}

/** How it ended. `bytes` and `digest` (sha256) are of what was downloaded, `virtualSizeBytes` of the disk inside. */
export type ImportResult =
  | {
      outcome: 'done';
      format: ImageFormat;
      compression?: Compression;
      bytes: number;
      virtualSizeBytes: number;
      digest: string;
    }
  | { outcome: 'scratch-required'; format: ImageFormat }
  | { outcome: 'failed'; reason: FailureReason; message: string; bytes: number };

/**
 * Does what the importer pod of CDI v1.66 does with one image, except keeping it: every byte is received, looked at and dropped.
 * Rejects with the signal's reason when it is called off; `onBytes` has then heard of all that was received.
 */
export async function importImage(request: ImportRequest): Promise<ImportResult> {
  const received: Received = { bytes: 0, sha256: createHash('sha256') };
  const over = new AbortController();
  let download: Download | undefined;
  try {
    request.signal.throwIfAborted();
    download = await open(request);
    return await transfer(request, download, received, over.signal);
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    if (!(error instanceof ImportFailure)) throw error;
    return { outcome: 'failed', reason: error.reason, message: error.message, bytes: received.bytes };
  } finally {
    download?.close();
    over.abort();
  }
}

function open(request: ImportRequest): Promise<Download> {
  const { sourceType, url } = request;
  if (!isWebAddress(url)) {
    const what = 'unable to parse endpoint: expected a URL like https://host/bucket/key, found something else';
    throw new ImportFailure(`Unable to connect to ${sourceType} data source: ${what}`);
  }
  return sourceType === 's3' ? openS3(request) : openHttp(request);
}

function isWebAddress(url: string) {
  try {
    const { protocol, pathname } = new URL(url);
    return /^https?:$/.test(protocol) && decodeURIComponent(pathname) !== '';
  } catch {
    return false;
  }
}

interface Received {
  bytes: number;
  sha256: ReturnType<typeof createHash>;
}

async function transfer(
  request: ImportRequest,
  download: Download,
  received: Received,
  over: AbortSignal,
): Promise<ImportResult> {
  const checksum = request.sourceType === 'http' ? checkedSum(request.checksum) : undefined;
  const wire = counted(download, request, received, checksum?.update);
  const { format, compression, chunks } = await unwrapped(wire, over);
  // From S3, only images to convert use scratch space; from a web server, all do.
  const needsScratch = request.sourceType === 'http' || format !== 'raw';
  if (needsScratch && !request.scratch) return { outcome: 'scratch-required', format };
  const check = imageCheck(format);
  if (needsScratch) await receive(chunks, check, request.capacityBytes * scratchSurplus, 'scratch space');
  else await receive(chunks, check, request.capacityBytes, 'target file');
  checksum?.verify();
  if (needsScratch) await convert(check, request);
  return {
    outcome: 'done',
    format,
    ...(compression ? { compression } : {}),
    bytes: received.bytes,
    virtualSizeBytes: check.virtualBytes(),
    digest: `sha256:${received.sha256.digest('hex')}`,
  };
}

async function* counted(
  { chunks, totalBytes }: Download,
  { onBytes }: ImportRequest,
  received: Received,
  alsoTo: ((chunk: Buffer) => void) | undefined,
) {
  for await (const chunk of chunks) {
    received.bytes += chunk.length;
    received.sha256.update(chunk);
    alsoTo?.(chunk);
    onBytes?.(received.bytes, totalBytes);
    yield chunk;
  }
}

/** Looks through layers of compression at what is inside; each kind is undone once, as CDI does it. */
async function unwrapped(wire: AsyncIterable<Buffer>, over: AbortSignal) {
  const undone: Compression[] = [];
  for (let chunks = wire; ; ) {
    const seen = await peek(chunks, headerBytes).catch((error) => {
      throw new ImportFailure(`${processing}: ${looking}: ${inGoWords(error)}`);
    });
    if (seen.head.length < headerBytes) {
      const end = seen.head.length === 0 ? 'EOF' : 'unexpected EOF';
      throw new ImportFailure(`${processing}: ${looking}: ${end}`);
    }
    const kind = recognise(seen.head);
    if ('format' in kind) return { format: kind.format, compression: undone[0], ...seen };
    if (undone.includes(kind.compression)) return { format: 'raw' as const, compression: undone[0], ...seen };
    undone.push(kind.compression);
    chunks = decompress(seen.chunks, kind.compression, over);
  }
}

const processing = 'Unable to process data';
const looking = 'Unable to obtain information about data source: could not process image header';

// A scratch volume has a file system, for whose overhead CDI adds 6 % to its size.
const scratchSurplus = 1.06;

async function receive(chunks: AsyncIterable<Buffer>, check: ImageCheck, capacityBytes: number, to: string) {
  let written = 0;
  try {
    for await (const chunk of chunks) {
      written += chunk.length;
      check.push(chunk);
      if (written > capacityBytes) break;
    }
  } catch (error) {
    const what = `Unable to transfer source data to ${to}: failed to pull image: ${inGoWords(error)}`;
    // CDI's controller takes the reason from the words "failed to pull image".
    throw new ImportFailure(`${processing}: ${what}`, 'ImagePullFailed');
  }
  if (written > capacityBytes) {
    throw new ImportFailure(`${processing}: Unable to transfer source data to ${to}: no space left on device`);
  }
}
