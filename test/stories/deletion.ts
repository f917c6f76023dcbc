import { expect } from 'vitest';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { putImage, syncImage } from './images.ts';
import { createImage, type Story, until, untilGone, untilPhase, type World } from './world.ts';

/**
 * Deletes the image and waits until nothing of it is left anywhere. What CDI made beside its claims (another claim, the
 * importer) Kubernetes' garbage collector takes away, in its own time.
 */
async function deleteLeavesNothing(world: World, name: string): Promise<void> {
  const ref = { namespace: world.namespace, name };
  await world.kube.delete(VMDiskImage, ref);
  await untilGone(world, VMDiskImage, ref);
  const kinds: readonly Resource[] = [DataVolume, PersistentVolumeClaim, VolumeSnapshot, Pod];
  for (const kind of kinds) {
    const left = await world.kube.list(kind, { namespace: world.namespace });
    for (const { metadata } of left) await untilGone(world, kind, metadata);
  }
  await until(world, Lease, leaseRef, (found) => found === undefined || holdersOf(found)?.length === 0);
}

const inPhase = (phase: string, prepare: (world: World) => Promise<void>, more: Partial<Story> = {}): Story => ({
  name: `an image deleted while ${phase} leaves nothing behind`,
  run: async (world) => {
    await prepare(world);
    await untilPhase(world, 'gone', phase);
    await deleteLeavesNothing(world, 'gone');
  },
  ...more,
});

const started = async (world: World) => {
  await putImage(world, 'gone');
  await createImage(world, 'gone');
};

/** The garbage collector takes claims with their DataVolumes, but not an orphaned claim. */
async function withOrphanedClaim(world: World) {
  const { namespace, kube } = world;
  const { uid } = (await syncImage(world, 'gone')).metadata;
  await kube.create(PersistentVolumeClaim, {
    metadata: { namespace, name: 'orphaned', labels: { [imageUidLabel]: uid } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
}

export const stories: readonly Story[] = [
  inPhase('Queued', started, { policy: { concurrency: '0' }, provesPermissions: {} }),
  inPhase(
    'Syncing',
    async (world) => {
      world.store.limitTo(0);
      await started(world);
    },
    { quick: true, smoke: true, provesPermissions: {} },
  ),
  inPhase('Snapshotting', started, { simulators: { snapshotter: { readyMs: 60_000 } } }),
  inPhase('Succeeded', withOrphanedClaim, { smoke: true, provesPermissions: {} }),
  inPhase(
    'Retrying',
    async (world) => {
      world.store.faults.push({ match: 'gone', mode: 'cutAt', fraction: 0.5 });
      await started(world);
    },
    { policy: { retryBackoffDuration: '1h' } },
  ),
  inPhase('Failed', async (world) => {
    await createImage(world, 'gone');
  }),
  {
    name: 'a snapshot that an image of an earlier release owns is disowned',
    provesPermissions: {},
    run: async (world) => {
      const { apiVersion, kind, metadata, status } = await syncImage(world, 'early');
      const ref = { namespace: world.namespace, name: status?.snapshot?.name ?? '' };
      const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
      await world.kube.patch(VolumeSnapshot, ref, { metadata: { ownerReferences } });
      await until(world, VolumeSnapshot, ref, (found) => found?.metadata.ownerReferences === undefined);
      expect(await world.kube.get(VolumeSnapshot, ref)).toBeDefined();
    },
  },
  {
    name: 'an image created again under its name starts from nothing',
    run: async (world) => {
      world.store.faults.push({ match: 'gone', mode: 'cutAt', fraction: 0.5, times: 1 });
      await started(world);
      await untilPhase(world, 'gone', 'Succeeded');
      await deleteLeavesNothing(world, 'gone');
      await createImage(world, 'gone');
      expect((await untilPhase(world, 'gone', 'Succeeded')).status).toMatchObject({ attempts: 1, revision: 1 });
    },
  },
];
