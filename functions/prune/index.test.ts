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

test('an image that adopted a snapshot goes alone: what was there before it stays', async () => {
  const { apiVersion, kind, spec } = aVMDiskImage();
  const ref = { name: 'rolled-out', namespace: 'vmdi-farm' };
  const golden = { name: 'golden', namespace: 'vmdi-farm' };
  const source = { volumeSnapshotContentName: 'content' };
  await alone.kube.create(VolumeSnapshot, { metadata: golden, spec: { source } });
  const metadata = { ...ref, finalizers: [diskImageFinalizer] };
  await alone.kube.create(VMDiskImage, { apiVersion, kind, metadata, spec });
  const status = { phase: 'Succeeded', snapshot: { name: 'golden', revision: 1 } };
  await alone.kube.patch(VMDiskImage, ref, { status }, { subresource: 'status' });
  await alone.kube.delete(VMDiskImage, ref);
  expect(await alone.changed(VMDiskImage, ref)).toBe(202);
  expect(await alone.kube.get(VMDiskImage, ref)).toBeUndefined();
  expect((await alone.kube.get(VolumeSnapshot, golden))?.metadata.deletionTimestamp).toBeUndefined();
});
