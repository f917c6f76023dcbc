import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../../shared/kinds/storage/storage-class.ts';
import type { Classes } from '../observed.ts';
import { type Reader, reading } from './reader.ts';

/** Without an image no class is needed. */
export const readClasses = (reader: Reader, images: readonly VMDiskImage[]) =>
  images.length > 0 ? reading(reader, classesFor(reader, images), undefined) : classesIn([], []);

/** No image fails for a class that a cache does not have yet. */
async function classesFor({ kube, cached }: Reader, images: readonly VMDiskImage[]): Promise<Classes> {
  const [storage, snapshot] = await Promise.all([cached?.(StorageClass), cached?.(VolumeSnapshotClass)]);
  const known = storage && snapshot && classesIn(storage, snapshot);
  const areAllKnown = images.every(
    ({ spec }) => known?.storage.has(spec.storageClass) && known.snapshot.has(spec.snapshotClass),
  );
  if (known && areAllKnown) return known;
  return listClasses(kube);
}

export const listClasses = async (kube: Reader['kube']) =>
  classesIn(...(await Promise.all([kube.list(StorageClass), kube.list(VolumeSnapshotClass)])));

const classesIn = (
  storage: readonly ReturnType<typeof StorageClass.parse>[],
  snapshot: readonly ReturnType<typeof VolumeSnapshotClass.parse>[],
): Classes => ({
  storage: new Map(storage.map(({ metadata, provisioner }) => [metadata.name, provisioner])),
  snapshot: new Map(snapshot.map(({ metadata, driver }) => [metadata.name, driver])),
});
