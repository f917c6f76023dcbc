import { createHash } from 'node:crypto';
import type { Cloud } from '../cloud.ts';
import type { Image } from './state.ts';

/** What is kept of an image's bytes: nothing boots from them here. */
export interface Content {
  size: number;
  checksum: string;
  sha512: string;
  /** The first bytes, where a qcow2 image says how large its disk is. */
  head: Buffer;
}

const headBytes = 32;

/** Reads bytes to their end, and keeps what is to be known of them. */
export async function contentOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Content> {
  const [md5, sha512] = [createHash('md5'), createHash('sha512')];
  let [size, head] = [0, Buffer.alloc(0)];
  for await (const chunk of chunks) {
    if (head.length < headBytes) head = Buffer.concat([head, chunk]).subarray(0, headBytes);
    size += chunk.length;
    md5.update(chunk);
    sha512.update(chunk);
  }
  return { size, head, checksum: md5.digest('hex'), sha512: sha512.digest('hex') };
}

/** The state of an image once all its bytes are uploaded. */
export const withContent = (cloud: Cloud, image: Image, { size, checksum, sha512, head }: Content): Image => ({
  ...image,
  status: 'active',
  size,
  checksum,
  sha512,
  virtualSize: virtualSizeOf(image, size, head),
  failedImport: image.failedImport === undefined ? undefined : '',
  importing: image.importing === undefined ? undefined : '',
  updatedMs: cloud.clock.now(),
});

const qcow2Magic = 0x514649fb;

function virtualSizeOf({ diskFormat }: Image, size: number, head: Buffer): number | null {
  if (diskFormat === 'raw' || diskFormat === 'iso') return size;
  const isQcow2 = head.length === headBytes && head.readUInt32BE(0) === qcow2Magic;
  return diskFormat === 'qcow2' && isQcow2 ? Number(head.readBigUInt64BE(24)) : null;
}
