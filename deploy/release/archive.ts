import { gzipSync } from 'node:zlib';

/** A file of an archive. */
export interface Entry {
  name: string;
  content: Uint8Array | string;
  /** Whether it may be run. */
  isProgram?: boolean;
}

const blockBytes = 512;

/** A tar archive (ustar) of these files, sorted by name and owned by root; the same files and time give the same bytes. */
export function tarOf(entries: readonly Entry[], modifiedS: number): Buffer {
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const blocks = sorted.flatMap((entry) => {
    const content = Buffer.from(entry.content as Uint8Array);
    const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
    return [headerOf(entry, content.length, modifiedS), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

/** The archive compressed, without name, time or operating system. */
export function tarGzipOf(entries: readonly Entry[], modifiedS: number): Buffer {
  const compressed = gzipSync(tarOf(entries, modifiedS), { level: 9 });
  compressed[operatingSystemAt] = unknownSystem;
  return compressed;
}

// RFC 1952, 2.3.1.
const operatingSystemAt = 9;
const unknownSystem = 255;

function headerOf({ name, isProgram }: Entry, bytes: number, modifiedS: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const [prefix, rest] = splitName(name);
  header.write(rest, 0);
  header.write(octal(isProgram ? 0o755 : 0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(bytes, 12), 124);
  header.write(octal(modifiedS, 12), 136);
  header.write(' '.repeat(8), 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  header.write('root', 265);
  header.write('root', 297);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return header;
}

const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\u0000`;

const longest = { name: 100, prefix: 155 };

/** A name of over 100 bytes, split at a slash as ustar has it. */
function splitName(name: string): [prefix: string, name: string] {
  if (Buffer.byteLength(name) <= longest.name) return ['', name];
  const slash = name.indexOf('/', name.length - longest.name - 1);
  if (slash < 0 || slash > longest.prefix)
    throw new Error(`expected a name that a tar archive can have (100 bytes, or 255 with folders), found ${name}`);
  return [name.slice(0, slash), name.slice(slash + 1)];
}
