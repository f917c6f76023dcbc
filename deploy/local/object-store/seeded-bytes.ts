import { createCipheriv, createHash } from 'node:crypto';

/** The bytes from `start` up to `end` of an endless, random-looking text that is the same for the same seed. */
export function seededBytes(seed: string | number, start: number, end: number): Buffer {
  const firstBlock = Math.floor(start / blockBytes);
  const counter = Buffer.alloc(blockBytes);
  counter.writeBigUInt64BE(BigInt(firstBlock), 8);
  const key = createHash('sha256').update(String(seed)).digest();
  const skip = start - firstBlock * blockBytes;
  const keystream = createCipheriv('aes-256-ctr', key, counter).update(Buffer.alloc(skip + end - start));
  return keystream.subarray(skip);
}

// AES in counter mode can start at any of its blocks, which is what makes a range of a large object cheap.
const blockBytes = 16;
