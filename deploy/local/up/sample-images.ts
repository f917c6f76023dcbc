import { gzipSync } from 'node:zlib';
import type { ObjectStore } from '../object-store/object-store.ts';
import { qcow2Content } from '../object-store/qcow2.ts';
import { seededBytes } from '../object-store/seeded-bytes.ts';

/** The bucket of the sample images; reading it takes the key pair of the Secret. */
export const sampleBucket = 'images';

const megabytes = (count: number) => count * 1_000_000;

const qcow2 = (name: string, size: number) =>
  qcow2Content({ virtualBytes: 8 * 1024 ** 3, dataBytes: megabytes(size), seed: name });

/** Puts the sample images into the store; returns how large each is, by its path. */
export async function putSampleImages(store: ObjectStore): Promise<ReadonlyMap<string, number>> {
  const seeded = {
    'ubuntu-24.04.qcow2': qcow2('ubuntu', 30),
    'debian-12.qcow2': qcow2('debian', 30),
    'windows-2022.qcow2': qcow2('windows', 120),
  };
  const raw = gzipSync(Buffer.concat([seededBytes('alpine', 0, megabytes(8)), Buffer.alloc(megabytes(24))]), {
    level: 1,
  });
  for (const [key, content] of Object.entries(seeded)) await store.put(sampleBucket, key, content);
  await store.put(sampleBucket, 'alpine-3.20.img.gz', raw);
  const sizes = [
    ...Object.entries(seeded).map(([key, { size }]) => [key, size] as const),
    ['alpine-3.20.img.gz', raw.length] as const,
  ];
  return new Map(sizes.map(([key, size]) => [`/${sampleBucket}/${key}`, size]));
}
