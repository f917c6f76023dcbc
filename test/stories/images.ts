import { gzipSync } from 'node:zlib';
import { qcow2Buffer } from '../../deploy/local/object-store/qcow2.ts';
import { syncRequested, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { createImage, refIn, type Spec, untilPhase, type World } from './world.ts';

/** Puts a real qcow2 image of some hundred kilobytes into the store, under the name stories expect. */
export async function putImage(
  { store }: World,
  name: string,
  options: { dataBytes?: number; virtualBytes?: number; bucket?: string; key?: string; gz?: boolean } = {},
): Promise<number> {
  const { dataBytes = 256 * 1024, virtualBytes = 32 * 1024 * 1024, bucket = 'images', key = `${name}.qcow2` } = options;
  const plain = qcow2Buffer({ virtualBytes, dataBytes, seed: name });
  const content = options.gz ? gzipSync(plain) : plain;
  await store.put(bucket, key, content);
  return content.length;
}

/** Puts an image into the store, creates it, and resolves with it once it is Succeeded. */
export async function syncImage(world: World, name: string, spec?: Partial<Spec>, metadata?: object) {
  await putImage(world, name);
  await createImage(world, name, spec, metadata);
  return untilPhase(world, name, 'Succeeded');
}

/** Asks for another sync of the image; each value asks once. */
export const requestSync = (world: Pick<World, 'kube' | 'namespace'>, name: string, value: string) =>
  world.kube.patch(VMDiskImage, refIn(world, name), { metadata: { annotations: { [syncRequested]: value } } });
