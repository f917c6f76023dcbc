import { seededBytes } from './seeded-bytes.ts';
import type { SeededContent } from './stored-object.ts';

/** A disk image to make: how large the disk looks, and how much of it, from its beginning, holds content. */
interface Qcow2Options {
  virtualBytes: number;
  dataBytes: number;
  seed: string | number;
  version?: 2 | 3;
}

/** A qcow2 image as content for the object store: its tables in memory, its data made up as it is read, gigabytes if need be. */
export function qcow2Content(options: Qcow2Options): SeededContent {
  const layout = layoutOf(options);
  const head = Buffer.alloc(layout.firstDataCluster * clusterBytes);
  writeHeader(head, options, layout);
  writeRefcounts(head, layout);
  writeTables(head, layout);
  return { size: layout.clusters * clusterBytes, seed: options.seed, head };
}

/** The same image, whole. */
export function qcow2Buffer(options: Qcow2Options): Buffer {
  const { size, seed, head = Buffer.alloc(0) } = qcow2Content(options);
  return Buffer.concat([head, seededBytes(seed, head.length, size)]);
}

// The defaults of qemu-img: clusters of 64 KiB, reference counts of 16 bits ("docs/interop/qcow2.txt" of QEMU).
const clusterBits = 16;
const clusterBytes = 1 << clusterBits;
const entriesInTable = clusterBytes / 8;
const countsInBlock = clusterBytes / 2;
const isCopied = 1n << 63n;

/** Where everything is, in clusters: header, reference count table and blocks, L1 table, L2 tables, data. */
interface Layout {
  refcountTable: { at: number; clusters: number };
  refcountBlocks: { at: number; clusters: number };
  l1: { at: number; entries: number };
  l2: { at: number; clusters: number };
  firstDataCluster: number;
  dataClusters: number;
  clusters: number;
}

function layoutOf({ virtualBytes, dataBytes }: Qcow2Options): Layout {
  const dataClusters = Math.ceil(Math.min(dataBytes, virtualBytes) / clusterBytes);
  const l1Entries = Math.ceil(virtualBytes / clusterBytes / entriesInTable);
  const l1Clusters = Math.max(1, Math.ceil(l1Entries / entriesInTable));
  const l2Clusters = Math.ceil(dataClusters / entriesInTable);
  const counted = 1 + l1Clusters + l2Clusters + dataClusters;
  // The blocks count themselves and their table, too.
  let blocks = Math.ceil(counted / countsInBlock);
  const tableOf = (count: number) => Math.ceil(count / entriesInTable);
  while (blocks * countsInBlock < counted + blocks + tableOf(blocks)) blocks++;
  const refcountTable = { at: 1, clusters: tableOf(blocks) };
  const refcountBlocks = { at: 1 + refcountTable.clusters, clusters: blocks };
  const l1 = { at: refcountBlocks.at + blocks, entries: l1Entries };
  const l2 = { at: l1.at + l1Clusters, clusters: l2Clusters };
  const firstDataCluster = l2.at + l2Clusters;
  return {
    refcountTable,
    refcountBlocks,
    l1,
    l2,
    firstDataCluster,
    dataClusters,
    clusters: firstDataCluster + dataClusters,
  };
}

function writeHeader(head: Buffer, { virtualBytes, version = 3 }: Qcow2Options, layout: Layout) {
  head.write('QFI\xfb', 0, 'latin1');
  head.writeUInt32BE(version, 4);
  head.writeUInt32BE(clusterBits, 20);
  head.writeBigUInt64BE(BigInt(virtualBytes), 24);
  head.writeUInt32BE(layout.l1.entries, 36);
  head.writeBigUInt64BE(offsetOf(layout.l1.at), 40);
  head.writeBigUInt64BE(offsetOf(layout.refcountTable.at), 48);
  head.writeUInt32BE(layout.refcountTable.clusters, 56);
  if (version === 2) return;
  head.writeUInt32BE(4, 96); // reference counts of 2^4 bits
  head.writeUInt32BE(104, 100); // length of this header
}

function writeRefcounts(head: Buffer, { refcountTable, refcountBlocks, clusters }: Layout) {
  for (let block = 0; block < refcountBlocks.clusters; block++) {
    head.writeBigUInt64BE(offsetOf(refcountBlocks.at + block), refcountTable.at * clusterBytes + block * 8);
  }
  const start = refcountBlocks.at * clusterBytes;
  for (let cluster = 0; cluster < clusters; cluster++) head.writeUInt16BE(1, start + cluster * 2);
}

function writeTables(head: Buffer, { l1, l2, firstDataCluster, dataClusters }: Layout) {
  for (let table = 0; table < l2.clusters; table++) {
    head.writeBigUInt64BE(offsetOf(l2.at + table) | isCopied, l1.at * clusterBytes + table * 8);
  }
  for (let cluster = 0; cluster < dataClusters; cluster++) {
    head.writeBigUInt64BE(offsetOf(firstDataCluster + cluster) | isCopied, l2.at * clusterBytes + cluster * 8);
  }
}

const offsetOf = (cluster: number) => BigInt(cluster) << BigInt(clusterBits);
