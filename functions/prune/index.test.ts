import { afterAll, expect, test } from 'vitest';
import {
  diskImageFinalizer,
  imageUidLabel,
  managedBy,
  VMDiskImage,
} from '../../shared/resources/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { serveAlone } from '../../test/alone.ts';
import { aVMDiskImage } from '../../test/builders.ts';
import declaration from './index.ts';

const alone = await serveAlone(declaration);
afterAll(alone.close);

test('a deleted image goes when its snapshot is gone, not before', async () => {
  const { apiVersion, kind, spec } = aVMDiskImage();
  const ref = { name: 'ubuntu', namespace: 'vmdi-farm' };
  const snapshot = { name: 'ubuntu-00000000-r1', namespace: 'vmdi-farm' };
  const metadata = { ...ref, finalizers: [diskImageFinalizer] };
  const { metadata: made } = await alone.kube.create(VMDiskImage, { apiVersion, kind, metadata, spec });
  const labels = { ...managedBy, [imageUidLabel]: made.uid };
  const source = { persistentVolumeClaimName: 'x' };
  const held = { ...snapshot, labels, finalizers: ['test/hold'] };
  await alone.kube.create(VolumeSnapshot, { metadata: held, spec: { source } });
  await alone.kube.delete(VMDiskImage, ref);
  expect(await alone.changed(VMDiskImage, ref)).toBe(202);
  expect((await alone.kube.get(VolumeSnapshot, snapshot))?.metadata.deletionTimestamp).toBeDefined();
  expect(await alone.kube.get(VMDiskImage, ref)).toBeDefined();
  await alone.kube.patch(VolumeSnapshot, snapshot, { metadata: { finalizers: null } });
  expect(await alone.changed(VolumeSnapshot, snapshot)).toBe(202);
  expect(await alone.kube.get(VMDiskImage, ref)).toBeUndefined();
  expect(alone.told.map(({ type }) => type)).toEqual(['ot.pelotech.disk-image.pruned.v1']);
});
