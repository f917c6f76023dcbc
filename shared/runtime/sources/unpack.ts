import { createGunzip, createZstdDecompress } from 'node:zlib';

/** Enough for the header of any format, and the descriptor of an ISO. */
const mostBytes = 64 * 1024;

/** The beginning of what is packed; undefined if Node cannot unpack it, or if it is damaged. */
export async function unpackBeginning(packing: 'gz' | 'xz' | 'zstd', packed: Buffer): Promise<Buffer | undefined> {
  if (packing === 'xz') return undefined;
  const unpacking = packing === 'gz' ? createGunzip() : createZstdDecompress();
  const chunks: Buffer[] = [];
  let length = 0;
  // The packed part ends in the middle, so there is no end to wait for.
  unpacking.write(packed);
  unpacking.flush(() => unpacking.end());
  try {
    for await (const chunk of unpacking) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= mostBytes) break;
    }
  } catch {
    if (length === 0) return undefined;
  }
  return Buffer.concat(chunks).subarray(0, mostBytes);
}
