/** What a source is, by the beginning of its content and never by its name. */
export interface Content {
  /** "qcow2", "gz of qcow2"; undefined for an unknown format. */
  format: string | undefined;
  /** The size of the disk in it, in bytes, if its beginning has it. */
  virtualSize?: number | undefined;
  /** Why it cannot be an image: what was found instead. */
  instead?: string;
  /** The image that this one is only a difference to. */
  backingFile?: string;
  /** A qcow2 whose length can be checked. */
  qcow2?: Qcow2;
}

/** Where a qcow2 image counts the use of its clusters. */
export interface Qcow2 {
  clusterBytes: number;
  countBits: number;
  table: { at: number; bytes: number };
}

/** Every known format has more. */
const shortest = 512;

/** What begins with `head`, and has `bytes` bytes in all, if that is known. */
export function contentOf(head: Buffer, bytes: number | undefined): Content {
  if (bytes === 0 || head.length === 0) return none('an empty object');
  const length = bytes ?? head.length;
  if (Math.min(length, head.length) < shortest)
    return none(isText(head) ? textOf(head) : `an object of ${length} bytes`);
  const [, read] = formats.find(([isIt]) => isIt(head)) ?? [undefined, rawContent];
  return read(head, bytes);
}

/** What a compressed source is, by the beginning of what was unpacked of it. */
export function packedContent(format: Packing, unpacked: Buffer | undefined): Content {
  if (unpacked === undefined) return { format };
  const inside = contentOf(unpacked, unpacked.length < shortest ? unpacked.length : undefined);
  if (inside.instead !== undefined) return none(`${format} of ${inside.instead}`);
  const { qcow2: _, ...content } = inside;
  return { ...content, format: inside.format === undefined ? format : `${format} of ${inside.format}` };
}

export type Packing = 'gz' | 'xz' | 'zstd';

/** How a source is compressed, if it is. */
export const packingOf = (head: Buffer): Packing | undefined => packings.find(([, magic]) => begins(head, magic))?.[0];

const packings: readonly [Packing, Buffer][] = [
  ['gz', Buffer.from([0x1f, 0x8b])],
  ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00])],
  ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
];

const begins = (head: Buffer, magic: Buffer | string, at = 0) =>
  head.subarray(at, at + magic.length).equals(Buffer.from(magic as string, 'latin1'));

const none = (instead: string): Content => ({ format: undefined, instead });

type Read = (head: Buffer, bytes: number | undefined) => Content;

const withMagic =
  (magic: Buffer | string, at = 0) =>
  (head: Buffer) =>
    begins(head, magic, at);

const formats: readonly [(head: Buffer) => boolean, Read][] = [
  [withMagic('QFI\xfb'), qcow2Content],
  // VMware "Virtual Disk Format 5.0": SparseExtentHeader, capacity in sectors.
  [withMagic('KDMV'), (head) => ({ format: 'vmdk', virtualSize: Number(head.readBigUInt64LE(12)) * 512 })],
  // VirtualBox's VDICore.h: header of version 1.1.
  [
    withMagic(Buffer.from([0x7f, 0x10, 0xda, 0xbe]), 0x40),
    (head) => ({ format: 'vdi', virtualSize: Number(head.readBigUInt64LE(0x170)) }),
  ],
  // Microsoft "Virtual Hard Disk Image Format Specification": a copy of the footer at the beginning.
  [withMagic('conectix'), (head) => ({ format: 'vhd', virtualSize: Number(head.readBigUInt64BE(48)) })],
  // Its size is megabytes behind the beginning.
  [withMagic('vhdxfile'), () => ({ format: 'vhdx' })],
  [withMagic('CD001', 32_769), (_, bytes) => ({ format: 'iso', virtualSize: bytes })],
  [withMagic('EFI PART', 512), (_, bytes) => ({ format: 'raw with GPT', virtualSize: bytes })],
  [withMagic(Buffer.from([0x55, 0xaa]), 510), (_, bytes) => ({ format: 'raw with MBR', virtualSize: bytes })],
  [withMagic('ustar', 257), () => none('a tar archive (an OVA is one)')],
  [withMagic('PK\x03\x04'), () => none('a zip archive')],
  [isText, (head) => none(textOf(head))],
];

const rawContent: Read = (_, bytes) => ({ format: undefined, virtualSize: bytes });

/** The header of qcow2 ("docs/interop/qcow2.txt" of QEMU). */
function qcow2Content(head: Buffer, bytes: number | undefined): Content {
  const version = head.readUInt32BE(4);
  if (version !== 2 && version !== 3) return none(`qcow2 of version ${version}, which CDI cannot read`);
  if (head.readUInt32BE(32) !== 0) return none('an encrypted qcow2 image');
  const features = version === 3 ? head.readUInt32BE(76) : 0;
  if (features & 4) return none('a qcow2 image whose data is in another file');
  const clusterBits = head.readUInt32BE(20);
  if (clusterBits < 9 || clusterBits > 21) return none(`a damaged qcow2 image: clusters of 2^${clusterBits} bytes`);
  const backing = { at: Number(head.readBigUInt64BE(8)), length: head.readUInt32BE(16) };
  const clusterBytes = 2 ** clusterBits;
  return {
    format: 'qcow2',
    virtualSize: Number(head.readBigUInt64BE(24)),
    ...(backing.at > 0
      ? { backingFile: printable(head.subarray(backing.at, backing.at + Math.min(backing.length, 255))) }
      : {}),
    ...(bytes === undefined
      ? {}
      : {
          qcow2: {
            clusterBytes,
            countBits: version === 3 ? 2 ** Math.min(head.readUInt32BE(96), 6) : 16,
            table: { at: Number(head.readBigUInt64BE(48)), bytes: head.readUInt32BE(56) * clusterBytes },
          },
        }),
  };
}

const printable = (bytes: Buffer) => bytes.toString('latin1').replace(/[^\x20-\x7e]/g, '?');

/** As far as it was read, nothing that a text has not; a disk has zeros. */
function isText(head: Buffer) {
  for (const byte of head) if (byte < 9 || byte === 11 || (byte > 13 && byte < 32 && byte !== 27)) return false;
  // A character may be cut at the end.
  return !head.subarray(0, -4).toString('utf8').includes('\ufffd');
}

/** What kind of text it is; of an error of S3 its code. */
function textOf(head: Buffer): string {
  const text = head.toString('utf8').trimStart();
  const code = /<Error>[\s\S]{0,2000}?<Code>(\w{1,64})<\/Code>/.exec(text)?.[1];
  if (code !== undefined) return `an error of S3 (${code})`;
  if (/^(<!--[\s\S]*?-->\s*)?<(!doctype\s+html|html)/i.test(text)) return 'an HTML page';
  if (/^<\?xml|^<[a-z]/i.test(text)) return 'an XML document';
  return /^[[{]/.test(text) ? 'a JSON document' : 'text';
}

const mostTableBytes = 1024;

/** The part of the table of refcount blocks that tells whether clusters are in use after the end of the file. */
export const tableToRead = ({ table }: Qcow2) => ({ from: table.at, bytes: Math.min(table.bytes, mostTableBytes) });

/**
 * Where the clusters behind the end of the object are counted; 'cut' if the table itself shows that the image is longer than the object,
 * undefined if there is nothing to read.
 */
export function countsToRead(
  { clusterBytes, countBits }: Qcow2,
  table: Buffer,
  bytes: number,
): { from: number; bytes: number } | 'cut' | undefined {
  const counts = (clusterBytes * 8) / countBits;
  const firstMissing = Math.ceil(bytes / clusterBytes);
  const index = Math.floor(firstMissing / counts);
  const blocks = Array.from({ length: Math.floor(table.length / 8) }, (_, at) => Number(table.readBigUInt64BE(at * 8)));
  // A block counts clusters of which at least one is used, or it would not exist.
  if (blocks.some((at, block) => at >= bytes || (at !== 0 && block > index))) return 'cut';
  const block = blocks[index];
  if (!block) return undefined;
  const offset = Math.ceil(((firstMissing % counts) * countBits) / 8);
  const length = Math.min(mostTableBytes, clusterBytes - offset);
  return length > 0 ? { from: block + offset, bytes: length } : undefined;
}

/** A cluster behind the end of the object is counted as used. */
export const isCut = (counts: Buffer) => counts.some((byte) => byte !== 0);
