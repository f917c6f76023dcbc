import { rangeCatcher } from '../object-store/catch-ranges.ts';
import { type ImageCheck, type ImageProblem, qcow2Check } from '../object-store/qcow2-check.ts';
import type { ImageFormat } from './recognise.ts';

/** The check for a disk image of that format; a raw one is always sound. */
export function imageCheck(format: ImageFormat): ImageCheck {
  return checks[format]();
}

const checks: Record<ImageFormat, () => ImageCheck> = {
  qcow2: qcow2Check,
  raw: () => {
    let bytes = 0;
    return {
      push: (chunk) => {
        bytes += chunk.length;
      },
      virtualBytes: () => bytes,
      problem: () => undefined,
    };
  },
  // VMware "Virtual Disk Format 5.0": SparseExtentHeader.
  vmdk: () =>
    headerCheck(512, (header) => ({
      virtualBytes: Number(header.readBigUInt64LE(12)) * 512,
      needsBytes: 512,
      problem: [1, 2, 3].includes(header.readUInt32LE(4)) ? undefined : 'Unsupported VMDK version',
    })),
  // VirtualBox's VDICore.h: header of version 1.1, then a map, then the blocks one after the other.
  vdi: () =>
    headerCheck(512, (header) => ({
      virtualBytes: Number(header.readBigUInt64LE(0x170)),
      needsBytes: header.readUInt32LE(0x158) + header.readUInt32LE(0x178) * header.readUInt32LE(0x184),
      problem: header.readUInt32LE(0x44) === 0x0001_0001 ? undefined : 'unsupported VDI image (version)',
    })),
  // Microsoft "Virtual Hard Disk Image Format Specification": a copy of the footer at the beginning.
  vhd: () =>
    headerCheck(512, (footer) => ({
      virtualBytes: Number(footer.readBigUInt64BE(48)),
      needsBytes: 1024,
      problem: undefined,
    })),
  vhdx: vhdxCheck,
};

function headerCheck(
  bytes: number,
  read: (header: Buffer) => { virtualBytes: number; needsBytes: number; problem: string | undefined },
): ImageCheck {
  const ranges = rangeCatcher();
  let seen = { virtualBytes: 0, needsBytes: bytes, problem: undefined as string | undefined };
  ranges.want(0, bytes, (header) => {
    seen = read(header);
  });
  return {
    push: ranges.push,
    virtualBytes: () => seen.virtualBytes,
    problem: () => (seen.problem ? opening(seen.problem) : tooShort(ranges.position(), seen.needsBytes)),
  };
}

/** Microsoft "[MS-VHDX]": the region table names the metadata, whose table names the size. */
function vhdxCheck(): ImageCheck {
  const ranges = rangeCatcher();
  let virtualBytes = 0;
  let isMissing = true;
  ranges.want(192 * 1024, 64 * 1024, (regions) => {
    const region = find(regions, 'regi', 8, 16, metadataRegion);
    if (!region) return;
    const metadataAt = Number(region.readBigUInt64LE(16));
    ranges.want(metadataAt, 64 * 1024, (metadata) => {
      const item = find(metadata, 'metadata', 10, 32, virtualDiskSize);
      if (!item) return;
      ranges.want(metadataAt + item.readUInt32LE(16), 8, (size) => {
        virtualBytes = Number(size.readBigUInt64LE(0));
        isMissing = false;
      });
    });
  });
  return {
    push: ranges.push,
    virtualBytes: () => virtualBytes,
    problem: () => (isMissing ? opening('the VHDX file says nowhere how large its disk is') : undefined),
  };
}

const metadataRegion = Buffer.from('06a27c8b90479a4bb8fe575f050f886e', 'hex');
const virtualDiskSize = Buffer.from('2442a52f1bcd7648b2115dbed83bf4b8', 'hex');

/** The 32-byte entry of a table that begins with this identifier. */
function find(table: Buffer, signature: string, countAt: number, firstAt: number, identifier: Buffer) {
  if (!table.subarray(0, signature.length).equals(Buffer.from(signature))) return undefined;
  const count = Math.min(table.readUInt16LE(countAt), (table.length - firstAt) / 32);
  const starts = Array.from({ length: count }, (_, index) => firstAt + index * 32);
  const start = starts.find((at) => table.subarray(at, at + 16).equals(identifier));
  return start === undefined ? undefined : table.subarray(start, start + 32);
}

const opening = (message: string): ImageProblem => ({ found: 'opening', message });

function tooShort(length: number, needed: number): ImageProblem | undefined {
  if (length >= needed) return undefined;
  return {
    found: 'converting',
    message: `Image is truncated: its header promises ${needed} bytes, the file ends at ${length}`,
  };
}
