import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { unpackBeginning } from '../../shared/runtime/sources/unpack.ts';
import { contentOf, countsToRead, isCut, packedContent, packingOf, tableToRead } from './content.ts';
import { fixture } from './fixtures/read.ts';

const head = (content: Buffer) => content.subarray(0, 64 * 1024);
const seen = (content: Buffer) => contentOf(head(content), content.length);
const disk = 8 << 20;

describe('what qemu-img made', () => {
  test.each([
    ['disk.qcow2', 'qcow2', disk],
    ['old.qcow2', 'qcow2', disk],
    ['packed.qcow2', 'qcow2', disk],
    ['empty.qcow2', 'qcow2', 20 * 2 ** 30],
    ['disk.vmdk', 'vmdk', disk],
    ['stream.vmdk', 'vmdk', disk],
    ['disk.vdi', 'vdi', disk],
    // qemu-img rounds up to whole cylinders.
    ['disk.vpc', 'vhd', 8_390_656],
    ['disk.vhdx', 'vhdx', undefined],
  ])('%s is %s', async (name, format, virtualSize) => {
    const content = seen(await fixture(name));
    expect(content).toMatchObject({ format });
    expect(content.virtualSize).toBe(virtualSize);
    expect(content.instead).toBeUndefined();
  });

  test('a qcow2 with a backing file names it', async () => {
    expect(seen(await fixture('backed.qcow2'))).toMatchObject({ format: 'qcow2', backingFile: 'disk.raw' });
  });

  test('a qcow2 that is encrypted, or has its data elsewhere, is no image for a disk', async () => {
    expect(seen(await fixture('locked.qcow2')).instead).toBe('an encrypted qcow2 image');
    expect(seen(await fixture('outside.qcow2')).instead).toBe('a qcow2 image whose data is in another file');
  });
});

describe('a qcow2 image', () => {
  /** As inspect.ts does it, with reads of a buffer in place of requests. */
  async function isFoundCut(name: string, share: number) {
    const whole = await fixture(name);
    const content = whole.subarray(0, Math.floor(whole.length * share));
    const { qcow2 } = seen(content);
    if (!qcow2) throw new Error('expected a qcow2');
    const read = ({ from, bytes }: { from: number; bytes: number }) => content.subarray(from, from + bytes);
    const table = tableToRead(qcow2);
    expect(table.bytes).toBeLessThanOrEqual(1024);
    if (table.from >= content.length) return true;
    const counts = countsToRead(qcow2, read(table), content.length);
    if (counts === undefined || counts === 'cut') return counts === 'cut';
    expect(counts.bytes).toBeLessThanOrEqual(1024);
    return isCut(read(counts));
  }

  test.each(['disk.qcow2', 'old.qcow2', 'packed.qcow2', 'empty.qcow2', 'backed.qcow2'])('%s is whole', async (name) => {
    expect(await isFoundCut(name, 1)).toBe(false);
  });

  test.each([
    ['disk.qcow2', 0.97],
    ['disk.qcow2', 0.5],
    ['disk.qcow2', 0.05],
    ['old.qcow2', 0.5],
    ['packed.qcow2', 0.8],
  ])('%s is cut where only %d of it exist', async (name, share) => {
    expect(await isFoundCut(name, share)).toBe(true);
  });
});

const text = (begin: string) => Buffer.from(`${begin}${' and so on'.repeat(100)}`);
const withBytes = (at: number, bytes: string | Buffer) => {
  const content = Buffer.alloc(40_000);
  Buffer.from(bytes as string, 'latin1').copy(content, at);
  return content;
};

test.each([
  ['raw with MBR', withBytes(510, '\x55\xaa')],
  ['raw with GPT', withBytes(512, 'EFI PART')],
  ['iso', withBytes(32_769, 'CD001')],
])('%s is an image of its own size', (format, content) => {
  expect(seen(content)).toEqual({ format, virtualSize: 40_000 });
});

test('anything else may be a raw disk', () => {
  expect(seen(Buffer.alloc(4096))).toEqual({ format: undefined, virtualSize: 4096 });
});

test.each([
  ['an empty object', Buffer.alloc(0)],
  ['an object of 18 bytes', Buffer.alloc(18)],
  ['text', Buffer.from('not found')],
  ['text', text('Sorry, no such image: größer als nichts')],
  ['an HTML page', text('<!DOCTYPE html>\n<html>')],
  ['an HTML page', text('<!-- generated -->\n<HTML lang="de">')],
  ['an XML document', text('<?xml version="1.0"?><feed>')],
  ['a JSON document', text('{"message": "rate limited"}')],
  ['an error of S3 (NoSuchKey)', text('<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code></Error>')],
  ['a tar archive (an OVA is one)', withBytes(257, 'ustar')],
  ['a zip archive', withBytes(0, 'PK\x03\x04')],
  ['qcow2 of version 9, which CDI cannot read', withBytes(0, 'QFI\xfb\x00\x00\x00\x09')],
])('%s is no image', (instead, content) => {
  expect(seen(content).instead).toBe(instead);
});

describe('what is packed', () => {
  const inside = async (content: Buffer) => {
    const packing = packingOf(content);
    return packing && packedContent(packing, await unpackBeginning(packing, head(content)));
  };

  test('is known by its content, also from its beginning alone', async () => {
    const qcow2 = await fixture('disk.qcow2');
    expect(await inside(gzipSync(qcow2))).toEqual({ format: 'gz of qcow2', virtualSize: disk });
    expect(await inside(zstdCompressSync(qcow2))).toEqual({ format: 'zstd of qcow2', virtualSize: disk });
    const large = gzipSync(Buffer.concat([qcow2, crypto.getRandomValues(Buffer.alloc(65_536))]), { level: 0 });
    expect(large.length).toBeGreaterThan(3 << 20);
    expect(await inside(large)).toEqual({ format: 'gz of qcow2', virtualSize: disk });
  });

  test('a page is no image by being packed', async () => {
    expect(await inside(gzipSync(text('<html>')))).toMatchObject({ instead: 'gz of an HTML page' });
  });

  test('a raw disk in it has no size that its beginning tells', async () => {
    expect(await inside(gzipSync(Buffer.alloc(1 << 20)))).toEqual({ format: 'gz', virtualSize: undefined });
  });

  test('xz is recognised by its first bytes alone', async () => {
    const xz = Buffer.concat([Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]), Buffer.alloc(600)]);
    expect(await inside(xz)).toEqual({ format: 'xz' });
  });

  test('a bomb costs no more than the beginning', async () => {
    expect((await unpackBeginning('gz', gzipSync(Buffer.alloc(64 << 20))))?.length).toBe(64 * 1024);
  });
});
