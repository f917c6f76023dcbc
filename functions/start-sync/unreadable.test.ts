import { expect, test, vi } from 'vitest';
import { type Batch, noEvents, type Subject } from '../../shared/function.ts';
import { contentStatus } from '../../shared/images/content-digest.ts';
import { type Holder, holdersOf, leaseName, serializeHolders, slotsAnnotation } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshotClass } from '../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../shared/kinds/storage/storage-class.ts';
import { policyRef } from '../../shared/policy.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { at, aVMDiskImage, keyPair, start } from '../../test/support/builders/images.ts';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import { reconcileOnce } from '../../test/support/harness/reconcile-once.ts';
import declaration from './index.ts';

const namespace = 'vmdi-farm';
const lease = { namespace: 'sync-operator', name: leaseName };

/** Image `ended` is at rest with a slot that is to be freed, `waits` is Queued, `new` has no status yet. */
async function cluster(): Promise<Kube> {
  const kube = memoryKube();
  const { spec } = aVMDiskImage();
  await kube.create(StorageClass, { metadata: { name: spec.storageClass }, provisioner: 'csi' });
  await kube.create(VolumeSnapshotClass, { metadata: { name: spec.snapshotClass }, driver: 'csi' });
  await kube.create(ConfigMap, { metadata: { ...policyRef }, data: { inspectTimeout: '0s' } });
  await kube.create(Secret, { metadata: { namespace, name: 's3-reader' }, data: keyPair });
  const create = (name: string, status?: object) =>
    kube.create(VMDiskImage, {
      ...aVMDiskImage({ name }),
      metadata: { namespace, name, creationTimestamp: at(0) },
      status,
    });
  const ended = await create('ended', {
    phase: 'Succeeded',
    revision: 1,
    attempt: 1,
    ...contentStatus(aVMDiskImage({ name: 'ended' })),
  });
  await create('waits', {
    ...{ phase: 'Queued', revision: 1, queuedAt: '2025-01-01T00:00:00.000000Z' },
    ...contentStatus(aVMDiskImage({ name: 'waits' })),
  });
  await create('new');
  const holder: Holder = {
    uid: ended.metadata.uid,
    image: `${namespace}/ended`,
    revision: 1,
    attempt: 1,
    since: at(0),
  };
  const annotations = { [slotsAnnotation]: serializeHolders([holder]) };
  await kube.create(Lease, {
    metadata: { ...lease, annotations },
    spec: { acquireTime: '2020-01-01T00:00:00.000000Z' },
  });
  return kube;
}

const subjectOf = (name: string): Subject => {
  const { apiVersion, kind } = VMDiskImage;
  return { apiVersion, kind, namespace, name };
};

async function reconcile(kube: Kube, refused?: { verb: 'get' | 'list'; kind: string; name?: string }) {
  const check = (verb: string, kind: string, name?: string) => {
    if (refused?.verb === verb && refused.kind === kind && refused.name === name)
      throw new ApiError(500, 'InternalError', 'out of order');
  };
  const refusing: Kube = {
    ...kube,
    get: async (resource, ref) => {
      check('get', resource.kind, resource.kind === VMDiskImage.kind ? ref.name : undefined);
      return kube.get(resource, ref);
    },
    list: async (resource, options) => {
      check('list', resource.kind);
      return kube.list(resource, options);
    },
  };
  const batch: Batch = { ...noEvents, subjects: [subjectOf('new'), subjectOf('ended')] };
  const verdict = await reconcileOnce(declaration, { kube: refusing, batch, now: () => start });
  const images = await kube.list(VMDiskImage);
  return {
    phases: Object.fromEntries(images.map(({ metadata, status }) => [metadata.name, status?.phase])),
    holders: holdersOf(await kube.get(Lease, lease))?.map(({ image }) => image),
    isRedelivered: (await verdict({ ...batch, subjects: [subjectOf('new')] })) !== undefined,
  };
}

test('with everything read, slots are freed and given', async () => {
  expect(await reconcile(await cluster())).toEqual({
    phases: { ended: 'Succeeded', waits: 'Syncing', new: 'Syncing' },
    holders: [`${namespace}/waits`, `${namespace}/new`],
    isRedelivered: false,
  });
});

test.each([
  { verb: 'list', kind: DataVolume.kind },
  { verb: 'list', kind: Pod.kind },
  { verb: 'list', kind: StorageClass.kind },
  { verb: 'get', kind: VMDiskImage.kind, name: 'ended' },
] as const)(
  'while $verb $kind $name fails, an image is still queued, no slot is given or freed, and the events come again',
  async (refused) => {
    const kube = await cluster();
    expect(await reconcile(kube, refused)).toEqual({
      phases: { ended: 'Succeeded', waits: 'Queued', new: 'Queued' },
      holders: [`${namespace}/ended`],
      isRedelivered: true,
    });
    expect((await reconcile(kube)).phases).toMatchObject({ waits: 'Syncing', new: 'Syncing' });
  },
);

test('while its Secret cannot be read, an image is left as it is and none behind it gets a slot', async () => {
  const kube = await cluster();
  expect(await reconcile(kube, { verb: 'get', kind: Secret.kind })).toEqual({
    phases: { ended: 'Succeeded', waits: 'Queued', new: undefined },
    holders: [],
    isRedelivered: true,
  });
  expect((await reconcile(kube)).phases).toMatchObject({ waits: 'Syncing', new: 'Syncing' });
});

test('a failing list that no image reports is in the log', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    const kube = await cluster();
    expect(await reconcile(kube, { verb: 'list', kind: StorageClass.kind })).toMatchObject({
      phases: { waits: 'Queued' },
    });
    expect(log.mock.calls.flat()).toContainEqual(expect.stringContaining('500 InternalError: out of order'));
  } finally {
    log.mockRestore();
  }
});
