/** Formats of disk images that CDI can convert; what it does not know is raw. */
export type ImageFormat = 'raw' | 'qcow2' | 'vmdk' | 'vdi' | 'vhd' | 'vhdx';

/** What CDI looks inside of. */
export type Compression = 'gz' | 'xz' | 'zst';

/** How many bytes CDI reads before it decides. */
export const headerBytes = 512;

/** What content is, by its first 512 bytes and never by its name; anything unknown, a web page too, is a raw disk. */
export function recognise(head: Buffer): { compression: Compression } | { format: ImageFormat } {
  const compression = compressions.find(({ magic }) => startsWith(head, magic));
  if (compression) return { compression: compression.name };
  const format = formats.find(({ magic, at = 0 }) => startsWith(head.subarray(at), magic));
  return { format: format?.name ?? 'raw' };
}

const startsWith = (bytes: Buffer, magic: Buffer) => bytes.subarray(0, magic.length).equals(magic);

const compressions: { name: Compression; magic: Buffer }[] = [
  { name: 'gz', magic: Buffer.from([0x1f, 0x8b]) },
  { name: 'xz', magic: Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]) },
  { name: 'zst', magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]) },
];

const formats: { name: ImageFormat; magic: Buffer; at?: number }[] = [
  { name: 'qcow2', magic: Buffer.from('QFI\xfb', 'latin1') },
  { name: 'vmdk', magic: Buffer.from('KDMV') },
  { name: 'vdi', magic: Buffer.from([0x7f, 0x10, 0xda, 0xbe]), at: 0x40 },
  { name: 'vhd', magic: Buffer.from('conectix') },
  { name: 'vhdx', magic: Buffer.from('vhdxfile') },
];
