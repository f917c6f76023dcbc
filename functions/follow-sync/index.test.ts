import { afterAll, expect, test } from 'vitest';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { serveAlone } from '../../test/alone.ts';
import { aDataVolume, at, aVMDiskImage } from '../../test/builders.ts';
import declaration from './index.ts';

const alone = await serveAlone(declaration);
afterAll(alone.close);

test('word of a failing DataVolume ends the attempt: the status says why, the DataVolume is gone', async () => {
  const { apiVersion, kind, spec } = aVMDiskImage();
  const ref = { name: 'ubuntu', namespace: 'vmdi-farm' };
  const status = { phase: 'Syncing' as const, revision: 1, attempt: 1, attempts: 1, startedAt: at(0) };
  const made = await alone.kube.create(VMDiskImage, { apiVersion, kind, metadata: ref, spec });
  const image = await alone.kube.patch(VMDiskImage, ref, { status }, { subresource: 'status' });
  const failing = aDataVolume(image, {
    running: { status: 'False', reason: 'Error', message: 'Unable to process data: unexpected EOF' },
  });
  const { name, labels } = failing.metadata;
  const dataVolume = { name, namespace: 'vmdi-farm' };
  await alone.kube.create(DataVolume, {
    metadata: { ...dataVolume, labels },
    spec: { source: { blank: {} }, storage: {} },
  });
  await alone.kube.patch(DataVolume, dataVolume, { status: failing.status }, { subresource: 'status' });
  expect(await alone.changed(DataVolume, dataVolume)).toBe(202);
  expect((await alone.kube.get(VMDiskImage, ref))?.status).toMatchObject({ phase: 'Retrying', attempts: 1 });
  expect(await alone.kube.get(DataVolume, dataVolume)).toBeUndefined();
  expect(alone.told).toMatchObject([
    { type: 'ot.pelotech.disk-image.retrying.v1', data: { uid: made.metadata.uid, reason: 'ImportFailed' } },
  ]);
});

test('word of a DataVolume that is nobody’s is no error', async () => {
  expect(await alone.changed(DataVolume, { name: 'other', namespace: 'vmdi-farm' })).toBe(202);
});
