import { type RangeCatcher, rangeCatcher } from './catch-ranges.ts';

/** What is wrong with a disk image, and when qemu-img would notice: on opening it or while converting it. */
export interface ImageProblem {
  found: 'opening' | 'converting';
  message: string;
}

/** Looks at a disk image while it flows by: `push` everything, then ask. */
export interface ImageCheck {
  push(chunk: Buffer): void;
  /** The size of the disk inside, as soon as it has been read; 0 before. */
  virtualBytes(): number;
  /** Call it at the end: what is wrong with the image, if anything. */
  problem(): ImageProblem | undefined;
}

/** Whether a file begins like a qcow2 image. */
export const isQcow2 = (head: Buffer) => head.subarray(0, 4).equals(magic);

/** Checks the header of a qcow2 image and the alignment of its tables. Like qemu-img it reads zeros after the end of a file. */
export function qcow2Check(): ImageCheck {
  const ranges = rangeCatcher();
  const state: State = { ranges, virtualBytes: 0, problem: undefined };
  ranges.want(0, shortestHeader, (bytes) => readHeader(bytes, state));
  return {
    push: ranges.push,
    virtualBytes: () => state.virtualBytes,
    problem: () => state.problem ?? tooShort(ranges.position()),
  };
}

const magic = Buffer.from('QFI\xfb', 'latin1');
const shortestHeader = 72;
const largestL1Bytes = 32 * 1024 * 1024;
const hasExtendedL2 = 16;

interface State {
  ranges: RangeCatcher;
  virtualBytes: number;
  problem: ImageProblem | undefined;
}

function readHeader(bytes: Buffer, state: State) {
  const version = bytes.readUInt32BE(4);
  const clusterBits = bytes.readUInt32BE(20);
  const l1 = { entries: bytes.readUInt32BE(36), offset: Number(bytes.readBigUInt64BE(40)) };
  const refcounts = { offset: Number(bytes.readBigUInt64BE(48)), clusters: bytes.readUInt32BE(56) };
  state.virtualBytes = Number(bytes.readBigUInt64BE(24));
  const clusterBytes = 2 ** clusterBits;
  const message = [
    !isQcow2(bytes) && 'Image is not in qcow2 format',
    version !== 2 && version !== 3 && `Unsupported qcow2 version ${version}`,
    (clusterBits < 9 || clusterBits > 21) && `Unsupported cluster size: 2^${clusterBits}`,
    refcounts.clusters === 0 && 'Image does not contain a reference count table',
    (refcounts.offset === 0 || refcounts.offset % clusterBytes !== 0) && 'Reference count table offset invalid',
    l1.entries * 8 > largestL1Bytes && 'Active L1 table too large',
    l1.offset % clusterBytes !== 0 && 'Active L1 table offset invalid',
    l1.entries < Math.ceil(state.virtualBytes / clusterBytes / (clusterBytes / 8)) && 'L1 table is too small',
    bytes.readBigUInt64BE(8) !== 0n && 'Image is invalid because it has invalid backing file',
  ].find((found) => found !== false);
  if (message) {
    state.problem = { found: 'opening', message };
    return;
  }
  const read = (entryBytes: number) => readL1(state, l1, clusterBytes, entryBytes);
  readRefcounts(state, refcounts, clusterBytes);
  if (version === 2) read(8);
  else state.ranges.want(72, 8, (features) => read(features.readUInt32BE(4) & hasExtendedL2 ? 16 : 8));
}

function readRefcounts(state: State, { offset, clusters }: { offset: number; clusters: number }, clusterBytes: number) {
  state.ranges.want(offset, clusters * clusterBytes, (table) => {
    for (let at = 0; at < table.length; at += 8) {
      const block = table.readBigUInt64BE(at);
      if (block % BigInt(clusterBytes) !== 0n)
        return corrupt(state, `Refblock offset 0x${block.toString(16)} unaligned (reftable index: ${hex(at / 8)})`);
    }
  });
}

function readL1(state: State, l1: { entries: number; offset: number }, clusterBytes: number, entryBytes: number) {
  state.ranges.want(l1.offset, l1.entries * 8, (table) => {
    for (const { offset, index } of entries(table, 8)) {
      if (offset % clusterBytes !== 0)
        return corrupt(state, `L2 table offset ${hex(offset)} unaligned (L1 index: ${hex(index)})`);
      // Tables that flowed by before their L1 entry cannot be looked at any more; qemu-img writes none there.
      state.ranges.want(offset, clusterBytes, (l2) => readL2(state, l2, offset, clusterBytes, entryBytes));
    }
  });
}

function readL2(state: State, table: Buffer, tableOffset: number, clusterBytes: number, entryBytes: number) {
  for (const { offset, index, isCompressed } of entries(table, entryBytes)) {
    if (isCompressed) continue;
    if (offset % clusterBytes !== 0) {
      const where = `(L2 offset: ${hex(tableOffset)}, L2 index: ${hex(index)})`;
      return corrupt(state, `Cluster allocation offset ${hex(offset)} unaligned ${where}`);
    }
  }
}

/** The entries of an L1 or L2 table that point somewhere; bit 0 of an L2 entry says "all zeros" and is no part of its offset. */
function* entries(table: Buffer, entryBytes: number) {
  for (let at = 0; at < table.length; at += entryBytes) {
    const high = table.readUInt32BE(at);
    const low = table.readUInt32BE(at + 4);
    const isCompressed = (high & 0x40000000) !== 0;
    const offset = (high & 0x00ffffff) * 2 ** 32 + ((low & 0xfffffe00) >>> 0);
    if (offset !== 0) yield { offset, index: at / entryBytes, isCompressed };
  }
}

function corrupt(state: State, what: string) {
  const message = `qcow2: Image is corrupt: ${what}; further non-fatal corruption events will be suppressed`;
  state.problem ??= { found: 'converting', message };
}

const tooShort = (bytes: number): ImageProblem | undefined =>
  bytes < shortestHeader ? { found: 'opening', message: 'qcow2 header too short' } : undefined;

/** As C prints `%#x`. */
const hex = (value: number) => (value === 0 ? '0' : `0x${value.toString(16)}`);
