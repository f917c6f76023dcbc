import { expect } from 'vitest';
import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../../shared/resources/resource.ts';
import { VolumeSnapshot } from '../../shared/resources/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/rules/conditions.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { holdersOf, leaseName } from '../../shared/rules/slots.ts';
import { putImage } from './images.ts';
import { createMachine, untilMachine } from './machines.ts';
import { createImage, type Story, until, untilGone, untilPhase, type World } from './world.ts';

const lease = { namespace: operatorNamespace, name: leaseName };
const names = ['ready', 'loading', 'waiting'];
/** Images last: nothing says in which order a backup brings them back, and this one helps least. */
const kinds: readonly Resource[] = [DataVolume, VolumeSnapshot, VMDiskImage];

type Backup = readonly (readonly [Resource, readonly KubernetesObject[]])[];

/** One image that is ready, one that downloads and one that waits for its slot, as a backup finds them. */
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

/** The cluster is lost with all that was in it. */
async function lose(world: World, backup: Backup): Promise<void> {
  const images = backup.flatMap(([kind, objects]) => (kind === VMDiskImage ? objects : []));
  for (const { metadata } of images) await world.kube.delete(VMDiskImage, metadata);
  for (const { metadata } of images) await untilGone(world, VMDiskImage, metadata);
}

/** Makes the objects anew as Velero does: with new uids, without owners, and with their status where it is asked to. */
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
  policy: { concurrency: '1' },
  // The download that the backup brings back has no slot, and no image; who restores a status writes any phase,
  // with the snapshot of the image before.
  allows: ['S2', 'S3', ...(withStatus ? ['S8', 'S9'] : [])],
  run: async (world) => {
    const backup = await backUp(world);
    await lose(world, backup);
    const before = world.history.starts().length;
    await restore(world, backup, withStatus);
    // It stands still for ever: whoever waits for its end waits for ever.
    for (const [kind, objects] of backup)
      if (kind === DataVolume) for (const { metadata } of objects) await untilGone(world, kind, metadata);
    world.store.limitTo(undefined);
    // A snapshot that is lost is made again once somebody uses its image.
    await createMachine(world, 'vm', 'ready');
    for (const name of names) await untilReady(world, name);
    await untilMachine(world, 'vm', 'Ready');
    await until(world, Lease, lease, (found) => holdersOf(found)?.length === 0);
    const downloads = { namespace: world.namespace, labelSelector: imageUidLabel };
    for (const { metadata } of await world.kube.list(DataVolume, downloads))
      await untilGone(world, DataVolume, metadata);
    // What came back has no owner; each image is downloaded once, the ready one perhaps not even that.
    const started = world.history.starts().slice(before);
    const images = started.map(({ image }) => image).filter(Boolean);
    expect(new Set(images).size).toBe(images.length);
    expect(images).toEqual(expect.arrayContaining(['loading', 'waiting']));
  },
});

export const stories: readonly Story[] = [restored('as they are', false), restored('with their status', true)];
