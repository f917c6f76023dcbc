import { gzipSync } from 'node:zlib';
import type { ObjectStore } from '../object-store/object-store.ts';
import { qcow2Content } from '../object-store/qcow2.ts';
import { seededBytes } from '../object-store/seeded-bytes.ts';
import type { Content } from '../object-store/stored-object.ts';

/** The bucket of the sample images; reading it takes the key pair of the Secret. */
const sampleBucket = 'images';

/** Puts the sample images into the store, those that it has not kept. */
export async function putSampleImages(store: ObjectStore): Promise<void> {
  for (const [key, content] of Object.entries(samples)) {
    if (store.sizeOf(`${sampleBucket}/${key}`) === undefined) await store.put(sampleBucket, key, content());
  }
}

const samples: Readonly<Record<string, () => Content>> = {
  'ubuntu-24.04.qcow2': () => qcow2('ubuntu', 30),
  // What crds/examples/workspace.yaml and the virtual-machine.yaml beside it name.
  'demo-vmdi.qcow2': () => qcow2('demo', 20),
  'debian-12.qcow2': () => qcow2('debian', 30),
  'windows-2022.qcow2': () => qcow2('windows', 120),
  'alpine-3.20.img.gz': () =>
    gzipSync(Buffer.concat([seededBytes('alpine', 0, megabytes(8)), Buffer.alloc(megabytes(24))]), { level: 1 }),
};

const megabytes = (count: number) => count * 1_000_000;

const qcow2 = (name: string, size: number) =>
  qcow2Content({ virtualBytes: 8 * 1024 ** 3, dataBytes: megabytes(size), seed: name });
