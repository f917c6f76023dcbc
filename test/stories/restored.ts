import { expect } from 'vitest';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { putImage } from './images.ts';
import { createMachine, untilMachine } from './machines.ts';
import { createImage, type Story, until, untilGone, untilPhase, type World } from './world.ts';

const names = ['ready', 'loading', 'waiting'];
/** Images last: a restore may use any order, and this one is the hardest for the functions. */
const kinds: readonly Resource[] = [DataVolume, VolumeSnapshot, VMDiskImage];

type Backup = readonly (readonly [Resource, readonly KubernetesObject[]])[];

/** A backup of three images: `ready`, `loading`, which downloads, and `waiting`, which waits for a slot. */
async function backUp(world: World): Promise<Backup> {
  for (const name of names) await putImage(world, name);
  await createImage(world, 'ready');
  await untilPhase(world, 'ready', 'Succeeded');
  world.store.limitTo(0);
  await createImage(world, 'loading');
  await untilPhase(world, 'loading', 'Syncing');
  await createImage(world, 'waiting');
  await untilPhase(world, 'waiting', 'Queued');
  const { namespace } = world;
  const isDownloading = (image: VMDiskImage | undefined) => image?.status?.dataVolume !== undefined;
  await until(world, VMDiskImage, { namespace, name: 'loading' }, isDownloading);
  return Promise.all(kinds.map(async (kind) => [kind, await world.kube.list(kind, { namespace })] as const));
}

/** Deletes the images, as if the cluster were lost. */
async function lose(world: World, backup: Backup): Promise<void> {
  const images = backup.flatMap(([kind, objects]) => (kind === VMDiskImage ? objects : []));
  for (const { metadata } of images) await world.kube.delete(VMDiskImage, metadata);
  for (const { metadata } of images) await untilGone(world, VMDiskImage, metadata);
}

/** Creates the objects again as Velero does: with new uids, without owners, and optionally with their status. */
async function restore({ kube }: World, backup: Backup, withStatus: boolean): Promise<void> {
  for (const [kind, objects] of backup) {
    for (const { metadata, ...rest } of objects) {
      const { namespace, name, labels, annotations, finalizers } = metadata;
      await kube.create(kind, { ...rest, metadata: { namespace, name, labels, annotations, finalizers } });
      const { status } = rest as { status?: unknown };
      if (withStatus && status) await kube.patch(kind, metadata, { status }, { subresource: 'status' });
    }
  }
}

const untilReady = (world: World, name: string) =>
  until(world, VMDiskImage, { namespace: world.namespace, name }, (image) => {
    return image?.status?.phase === 'Succeeded' && conditionOf(image.status.conditions, 'Ready')?.status === 'True';
  });

const restored = (what: string, withStatus: boolean): Story => ({
  name: `images that a backup brings back ${what} become ready: a download of those before them keeps no slot`,
  smoke: !withStatus,
  policy: { concurrency: '1' },
  // The restored download has neither a slot nor an image. A restored status may have any phase, and names the
  // snapshot of the image before.
  allows: ['S2', 'S3', ...(withStatus ? ['S8', 'S9'] : [])],
  run: async (world) => {
    const backup = await backUp(world);
    await lose(world, backup);
    const before = world.history.starts().length;
    await restore(world, backup, withStatus);
    // The limit keeps it from ending, so that it has to be deleted.
    for (const [kind, objects] of backup)
      if (kind === DataVolume) for (const { metadata } of objects) await untilGone(world, kind, metadata);
    world.store.limitTo(undefined);
    // A lost snapshot is created again once a machine uses its image.
    await createMachine(world, 'vm', 'ready');
    for (const name of names) await untilReady(world, name);
    await untilMachine(world, 'vm', 'Ready');
    await until(world, Lease, leaseRef, (found) => holdersOf(found)?.length === 0);
    const downloads = { namespace: world.namespace, labelSelector: imageUidLabel };
    for (const { metadata } of await world.kube.list(DataVolume, downloads))
      await untilGone(world, DataVolume, metadata);
    // The restored objects have no owner. Each image is downloaded at most once; `ready` may not be downloaded at all.
    const started = world.history.starts().slice(before);
    const images = started.map(({ image }) => image).filter(Boolean);
    expect(new Set(images).size).toBe(images.length);
    expect(images).toEqual(expect.arrayContaining(['loading', 'waiting']));
  },
});

export const stories: readonly Story[] = [restored('as they are', false), restored('with their status', true)];
