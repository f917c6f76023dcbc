import { afterAll, describe, expect, test } from 'vitest';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import {
  adoptSnapshot,
  diskImageFinalizer,
  imageUidLabel,
  VMDiskImage,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { aDataVolume, aSnapshot, at } from '../../test/support/builders/images.ts';
import { createImage } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const harness = await serveFunction(declaration);
afterAll(harness.close);
const unsettled = diskImageFact('unsettled');

test('word of a failing DataVolume ends the attempt: the status says why, the DataVolume is gone', async () => {
  const ref = { name: 'ubuntu', namespace: 'vmdi-farm' };
  const status = { phase: 'Syncing', revision: 1, attempt: 1, attempts: 1, startedAt: at(0) } as const;
  const image = await createImage(harness.kube, 'ubuntu', { status });
  const failing = aDataVolume(image, {
    running: { status: 'False', reason: 'Error', message: 'Unable to process data: unexpected EOF' },
  });
  const { name, labels } = failing.metadata;
  const dataVolume = { name, namespace: 'vmdi-farm' };
  await harness.kube.create(DataVolume, {
    metadata: { ...dataVolume, labels },
    spec: { source: { blank: {} }, storage: {} },
  });
  await harness.kube.patch(DataVolume, dataVolume, { status: failing.status }, { subresource: 'status' });
  expect(await harness.changed(DataVolume, dataVolume)).toBe(202);
  expect((await harness.kube.get(VMDiskImage, ref))?.status).toMatchObject({ phase: 'Retrying', attempts: 1 });
  expect(await harness.kube.get(DataVolume, dataVolume)).toBeUndefined();
  expect(harness.published).toMatchObject([
    { type: 'ot.pelotech.disk-image.retrying.v1', data: { uid: image.metadata.uid, reason: 'ImportFailed' } },
  ]);
});

test('an event of a DataVolume without an image is no error', async () => {
  expect(await harness.changed(DataVolume, { name: 'other', namespace: 'vmdi-farm' })).toBe(202);
});

test('each fact of a deleted image and each event of its DataVolume or its snapshot tells that it may be pruned; a sweep does not', async () => {
  const ref = { name: 'leaving', namespace: 'vmdi-farm' };
  const image = await createImage(harness.kube, 'leaving', {
    metadata: { finalizers: [diskImageFinalizer] },
    status: { phase: 'Syncing', revision: 1, attempt: 1 },
  });
  await harness.kube.delete(VMDiskImage, ref);
  const told = () => harness.published.filter(({ type }) => type === diskImageFact('prunable')).length;
  await harness.message(unsettled, ref);
  await harness.changed(DataVolume, aDataVolume(image).metadata, 'delete');
  await harness.changed(VolumeSnapshot, aSnapshot(image).metadata, 'delete');
  expect(told()).toBe(3);
  await harness.sweep();
  expect(told()).toBe(3);
});

describe('an image that adopts a snapshot', () => {
  const snapshot = { name: 'golden', namespace: 'vmdi-farm' };

  /** An image that start-sync has sent to wait for the snapshot of that name. */
  async function anAdopting(name: string, adoptee = snapshot.name) {
    const ref = { name, namespace: 'vmdi-farm' };
    const metadata = { annotations: { [adoptSnapshot]: adoptee } };
    const made = await createImage(harness.kube, name, { metadata });
    const adoption = { snapshot: adoptee, revision: 1 };
    const status = { phase: 'Snapshotting' as const, revision: 1, adoption, contentDigest: contentDigest(made) };
    await harness.kube.patch(VMDiskImage, ref, { status }, { subresource: 'status' });
    return { ref, reason: async () => (await harness.kube.get(VMDiskImage, ref))?.status?.conditions?.[0]?.reason };
  }

  test('waits while it is not there, and is ready by the next sweep once it is', async () => {
    const { ref, reason } = await anAdopting('rolled-out');
    expect(await harness.message(unsettled, ref)).toBe(202);
    expect(await reason()).toBe('SnapshotMissing');
    await harness.kube.create(VolumeSnapshot, {
      metadata: snapshot,
      spec: { source: { volumeSnapshotContentName: 'content' } },
    });
    const status = { readyToUse: true, restoreSize: '24Gi' };
    await harness.kube.patch(VolumeSnapshot, snapshot, { status }, { subresource: 'status' });
    expect(await harness.sweep()).toBe(202);
    expect((await harness.kube.get(VMDiskImage, ref))?.status).toMatchObject({
      phase: 'Succeeded',
      snapshot: { name: 'golden', restoreSize: '24Gi' },
    });
  });

  test('sees whose it is even where that image is in hand as well', async () => {
    const landlord = await anAdopting('landlord');
    const uid = (await harness.kube.get(VMDiskImage, landlord.ref))?.metadata.uid;
    const labels = { [imageUidLabel]: uid };
    await harness.kube.patch(VolumeSnapshot, snapshot, { metadata: { labels } });
    const lodger = await anAdopting('lodger');
    expect(await harness.sweep()).toBe(202);
    expect([await landlord.reason(), await lodger.reason()]).toEqual(['SnapshotAdopted', 'SnapshotOfAnotherImage']);
  });

  test('by a name that no object has asks the API server for none', async () => {
    const { reason } = await anAdopting('odd', '..');
    expect(await harness.sweep()).toBe(202);
    expect(await reason()).toBe('SnapshotNameInvalid');
  });

  test('is reported as lost by the audit', async () => {
    await harness.kube.delete(VolumeSnapshot, snapshot);
    expect(await harness.audit()).toBe(202);
    expect((await harness.kube.get(VMDiskImage, { name: 'rolled-out', namespace: 'vmdi-farm' }))?.status).toMatchObject(
      {
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'SnapshotLost', status: 'True' },
          { type: 'Stalled', status: 'True' },
        ],
      },
    );
  });
});
