import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { seededBytes } from './seeded-bytes.ts';

/** What an object can be made of: bytes, a stream (kept in a file), a file of one's own, or bytes made up when they are asked for. */
export type Content = Buffer | string | Readable | { file: string } | SeededContent;

/** `size` bytes that come from `seed`, save the first ones where a `head` is given; takes no memory beyond the head. */
export interface SeededContent {
  size: number;
  seed: string | number;
  head?: Buffer;
}

/** An object as it can be served, from any byte. */
export interface StoredObject {
  size: number;
  etag: string;
  lastModifiedMs: number;
  read(start: number, end: number): AsyncIterable<Buffer>;
}

/** Makes an object of `content`; a stream is written to a file in `spoolFolder` first. */
export async function storedObject(content: Content, spoolFolder: string, nowMs: number): Promise<StoredObject> {
  if (typeof content === 'string') return fromBuffer(Buffer.from(content), nowMs);
  if (Buffer.isBuffer(content)) return fromBuffer(content, nowMs);
  if ('seed' in content) return fromSeed(content, nowMs);
  if ('file' in content) return fromFile(content.file, nowMs);
  const file = join(spoolFolder, randomUUID());
  await pipeline(content, createWriteStream(file));
  return fromFile(file, nowMs);
}

function fromBuffer(bytes: Buffer, lastModifiedMs: number): StoredObject {
  async function* read(start: number, end: number) {
    for (let at = start; at < end; at += chunkBytes) yield bytes.subarray(at, Math.min(at + chunkBytes, end));
  }
  return { size: bytes.length, etag: md5(bytes), lastModifiedMs, read };
}

function fromSeed({ size, seed, head = Buffer.alloc(0) }: SeededContent, lastModifiedMs: number): StoredObject {
  async function* read(start: number, end: number) {
    for (let at = start; at < end; ) {
      const until = Math.min(at + chunkBytes, end, at < head.length ? head.length : end);
      yield at < head.length ? head.subarray(at, until) : seededBytes(seed, at, until);
      at = until;
    }
  }
  return { size, etag: md5(Buffer.from(`${seed} ${size} ${md5(head)}`)), lastModifiedMs, read };
}

async function fromFile(file: string, lastModifiedMs: number): Promise<StoredObject> {
  const { size, mtimeMs } = await stat(file);
  const read = async function* (start: number, end: number): AsyncIterable<Buffer> {
    if (start < end) yield* createReadStream(file, { start, end: end - 1, highWaterMark: chunkBytes });
  };
  return { size, etag: md5(Buffer.from(`${file} ${size} ${mtimeMs}`)), lastModifiedMs, read };
}

const chunkBytes = 64 * 1024;

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
