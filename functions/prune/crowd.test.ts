import { expect, test } from 'vitest';
import { distinct } from '../../shared/distinct.ts';
import { type Batch, noEvents, type Subject } from '../../shared/function.ts';
import { dataVolumeName, imageNameOf } from '../../shared/images/children.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import {
  diskImageFinalizer,
  imageUidLabel,
  managedBy,
  VMDiskImage,
  type VMDiskImageStatus,
} from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { nameOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { policyRef } from '../../shared/policy.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { at } from '../../test/support/builders/images.ts';
import { createImage } from '../../test/support/harness/create.ts';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import { reconcileOnce } from '../../test/support/harness/reconcile-once.ts';
import declaration from './index.ts';

const namespace = 'vmdi-farm';
const subjectOf = (name: string): Subject => ({
  apiVersion: VMDiskImage.apiVersion,
  kind: VMDiskImage.kind,
  namespace,
  name,
});

/** `reconcile` reconciles the objects in memory once and resolves with the images of the next one. */
function inMemory(refuses: (ref: ObjectReference) => boolean = () => false) {
  const kube = memoryKube();
  const requests = { get: 0, list: 0, write: 0 };
  let next: Subject[] = [];
  const wrote = ({ name }: ObjectReference) => {
    requests.write++;
    next.push(subjectOf(imageNameOf(name) ?? name));
  };
  const counted: Kube = {
    ...kube,
    get: async (resource, ref) => {
      requests.get++;
      if (refuses(ref)) throw new ApiError(500, 'InternalError', 'the server is out of order');
      return kube.get(resource, ref);
    },
    list: async (resource, options) => {
      requests.list++;
      return kube.list(resource, options);
    },
    patch: async (resource, ref, patch, options) => {
      wrote(ref);
      return kube.patch(resource, ref, patch, options);
    },
    delete: async (resource, ref, preconditions) => {
      wrote(ref);
      await kube.delete(resource, ref, preconditions);
    },
  };
  const reconcile = async (batch: Partial<Batch>) => {
    next = [];
    const all: Batch = { ...noEvents, ...batch };
    if (batch.audit)
      all.audited = (await Array.fromAsync(declaration.audit?.({ kube, nowMs: Date.now() }) ?? [])).flat();
    const verdict = await reconcileOnce(declaration, {
      kube: counted,
      batch: all,
      requeueAfter: (about) => void next.push(about),
    });
    const error = await verdict(all);
    if (error !== undefined) throw error;
    return distinct(next, (subject) => nameOf(subject, subject));
  };
  const create = (name: string, status?: VMDiskImageStatus) =>
    createImage(kube, name, { metadata: { finalizers: [diskImageFinalizer] }, ...(status ? { status } : {}) });
  /** `count` deleted images with a snapshot each. */
  const createDeleted = async (count: number) => {
    for (let index = 0; index < count; index++) {
      const { uid, name } = (await create(`image-${index}`)).metadata;
      const labels = { ...managedBy, [imageUidLabel]: uid };
      await kube.create(VolumeSnapshot, { metadata: { namespace, name: `${name}-0badcafe-r1`, labels } });
      await kube.delete(VMDiskImage, { namespace, name });
    }
  };
  return { kube, reconcile, requests, create, createDeleted };
}

test('a thousand images deleted at once are finalized in reconciles of bounded size, whose lists do not grow with the number of images', async () => {
  const { kube, reconcile, requests, createDeleted } = inMemory();
  await createDeleted(1000);
  let reconciles = 0;
  for (let subjects = await reconcile({ audit: true }); subjects.length > 0; subjects = await reconcile({ subjects })) {
    const { get, write } = requests;
    expect(get, 'GETs of a reconcile').toBeLessThanOrEqual(110);
    expect(write, 'writes of a reconcile').toBeLessThanOrEqual(200);
    Object.assign(requests, { get: 0, write: 0 });
    expect(++reconciles, 'reconciles').toBeLessThan(40);
  }
  expect(await kube.list(VMDiskImage)).toEqual([]);
  expect(requests.list, 'lists of all reconciles').toBeLessThanOrEqual(reconciles * 6 + 10);
});

test('an image that cannot be read does not block the others, and its event is redelivered', async () => {
  const { kube, reconcile, createDeleted } = inMemory(({ name }) => name === 'image-1');
  await createDeleted(3);
  const subjects = [0, 1, 2].map((index) => subjectOf(`image-${index}`));
  await expect(reconcile({ subjects })).rejects.toThrow('the server is out of order');
  await expect(reconcile({ subjects })).rejects.toThrow();
  expect((await kube.list(VMDiskImage)).map(({ metadata }) => metadata.name)).toEqual(['image-1']);
});

test('an image name is read once for all that earlier images of that name left', async () => {
  const { kube, reconcile, requests } = inMemory();
  for (let index = 0; index < 20; index++) {
    const uid = `uid-before-restore-${index}`;
    const name = dataVolumeName({ name: 'restored', uid }, 1, 1);
    const metadata = { namespace, name, labels: { [imageUidLabel]: uid }, creationTimestamp: at(0) };
    await kube.create(DataVolume, { metadata });
  }
  await reconcile({ audit: true });
  expect(await kube.list(DataVolume)).toEqual([]);
  expect(requests.get).toBe(1);
});

test('a reconcile deletes fifty unused images, the longest unused first', async () => {
  const { kube, reconcile, create } = inMemory();
  const data = { prune: 'WhenUnreferenced', pruneAfter: '1h' };
  await kube.create(ConfigMap, { metadata: policyRef, data });
  // The list order differs from the order of their times.
  for (let index = 0; index < 60; index++)
    await create(`image-${index}`, { references: { count: 0 }, unreferencedSince: at((index * 7) % 60) });
  await reconcile({ audit: true });
  const stays = (await kube.list(VMDiskImage)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const since = stays.map(({ status }) => status?.unreferencedSince).sort();
  expect(since).toEqual(Array.from({ length: 10 }, (_, index) => at(50 + index)));
});
