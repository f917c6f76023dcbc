import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { adoptSnapshot, imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { putImage, requestSync, syncImage } from './images.ts';
import {
  byName,
  createImage,
  refIn,
  type Spec,
  type Story,
  until,
  untilGone,
  untilPhase,
  type World,
} from './world.ts';

/** The volume of another image stands for an existing disk of the admins. */
const keepsVolumes = { retainSourceVolume: 'true' };

/** Makes an existing disk by downloading an image. Returns its claim. */
async function aDisk(world: World): Promise<string> {
  await syncImage(world, 'before');
  const [dataVolume] = await world.kube.list(DataVolume, { namespace: world.namespace });
  return dataVolume?.status?.claimName ?? dataVolume?.metadata.name ?? '';
}

/** Cuts a snapshot of that disk as an admin would, and waits until it is ready. */
async function cut(world: World, claim: string, name: string): Promise<void> {
  await world.kube.create(VolumeSnapshot, {
    metadata: refIn(world, name),
    spec: { volumeSnapshotClassName: 'ebs-snapshot', source: { persistentVolumeClaimName: claim } },
  });
  await until(world, VolumeSnapshot, refIn(world, name), (found) => found?.status?.readyToUse === true);
}

const adopt = (world: World, name: string, snapshot: string, spec: Partial<Spec> = {}) =>
  createImage(world, name, spec, { annotations: { [adoptSnapshot]: snapshot } });

const annotate = (world: World, name: string, annotations: Record<string, string | null>) =>
  world.kube.patch(VMDiskImage, refIn(world, name), { metadata: { annotations } });

const reasonIs = (reason: string) => (image: VMDiskImage | undefined) =>
  image?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason === reason;

const untilReason = (world: World, name: string, reason: string) =>
  until(world, VMDiskImage, refIn(world, name), reasonIs(reason));

/** No DataVolume was made for it, and its object was not read: nothing was downloaded. */
function expectNoDownload({ store, history }: World, name: string): void {
  expect(history.starts().filter(({ image }) => image === name)).toEqual([]);
  expect(store.bytesSent(`images/${name}.qcow2`)).toBe(0);
}

const all = byName<Story>({
  'an image adopts the snapshot its annotation names: ready at once, nothing is downloaded, no slot is taken': {
    quick: true,
    policy: keepsVolumes,
    run: async (world) => {
      await cut(world, await aDisk(world), 'golden');
      await putImage(world, 'rolled-out');
      await adopt(world, 'rolled-out', 'golden');
      const { status } = await untilPhase(world, 'rolled-out', 'Succeeded');
      expect(status).toMatchObject({ attempts: 0, snapshot: { name: 'golden', revision: 1 } });
      expect(world.history.phasesOf('rolled-out')).toEqual(['Snapshotting', 'Succeeded']);
      expectNoDownload(world, 'rolled-out');
    },
  },
  'an image waits for its snapshot without downloading, and adopts it once it exists': {
    smoke: true,
    policy: keepsVolumes,
    run: async (world) => {
      const claim = await aDisk(world);
      await putImage(world, 'early');
      await adopt(world, 'early', 'golden');
      await untilReason(world, 'early', 'SnapshotMissing');
      await cut(world, claim, 'golden');
      expect((await untilPhase(world, 'early', 'Succeeded')).status?.snapshot?.name).toBe('golden');
      expectNoDownload(world, 'early');
    },
  },
  'a snapshot larger than the disk is adopted once diskSize is mended, and not downloaded for that': {
    policy: keepsVolumes,
    run: async (world) => {
      await cut(world, await aDisk(world), 'golden');
      await adopt(world, 'small', 'golden', { diskSize: '48Mi' });
      await untilReason(world, 'small', 'SnapshotTooLarge');
      await world.kube.patch(VMDiskImage, refIn(world, 'small'), { spec: { diskSize: '1Gi' } });
      expect((await untilPhase(world, 'small', 'Succeeded')).status?.snapshot?.name).toBe('golden');
      expectNoDownload(world, 'small');
    },
  },
  'an image whose annotation is removed before its snapshot exists downloads as any other': async (world) => {
    await putImage(world, 'given-up');
    await adopt(world, 'given-up', 'never');
    await untilReason(world, 'given-up', 'SnapshotMissing');
    await annotate(world, 'given-up', { [adoptSnapshot]: null });
    expect((await untilPhase(world, 'given-up', 'Succeeded')).status).toMatchObject({ attempts: 1, revision: 2 });
  },
  'a failed image adopts a snapshot that an admin names later': {
    policy: keepsVolumes,
    run: async (world) => {
      await cut(world, await aDisk(world), 'golden');
      await createImage(world, 'absent');
      await untilPhase(world, 'absent', 'Failed');
      await annotate(world, 'absent', { [adoptSnapshot]: 'golden' });
      expect((await untilPhase(world, 'absent', 'Succeeded')).status?.snapshot?.name).toBe('golden');
    },
  },
  'a new revision after adoption downloads and replaces the adopted snapshot, which stays': {
    policy: keepsVolumes,
    run: async (world) => {
      await cut(world, await aDisk(world), 'golden');
      await putImage(world, 'renewed');
      await adopt(world, 'renewed', 'golden');
      await untilPhase(world, 'renewed', 'Succeeded');
      await requestSync(world, 'renewed', '1');
      const found = await until(
        world,
        VMDiskImage,
        refIn(world, 'renewed'),
        (image) => image?.status?.phase === 'Succeeded' && image.status.snapshot?.revision === 2,
      );
      expect(found?.status?.snapshot?.name).not.toBe('golden');
      expect(await world.kube.get(VolumeSnapshot, refIn(world, 'golden'))).toBeDefined();
    },
  },
  'a deleted image leaves the snapshot it adopted, and deletes a snapshot that carries its label': {
    policy: keepsVolumes,
    run: async (world) => {
      const claim = await aDisk(world);
      await cut(world, claim, 'golden');
      await cut(world, claim, 'given');
      await adopt(world, 'guest', 'golden');
      await adopt(world, 'owner', 'given');
      await untilPhase(world, 'guest', 'Succeeded');
      const { metadata } = await untilPhase(world, 'owner', 'Succeeded');
      const labels = { [imageUidLabel]: metadata.uid };
      await world.kube.patch(VolumeSnapshot, refIn(world, 'given'), { metadata: { labels } });
      for (const name of ['guest', 'owner']) await world.kube.delete(VMDiskImage, refIn(world, name));
      for (const name of ['guest', 'owner']) await untilGone(world, VMDiskImage, refIn(world, name));
      await untilGone(world, VolumeSnapshot, refIn(world, 'given'));
      const golden = await world.kube.get(VolumeSnapshot, refIn(world, 'golden'));
      expect(golden?.metadata.deletionTimestamp).toBeUndefined();
      expect(golden?.status?.readyToUse).toBe(true);
    },
  },
  "another image's snapshot is not adopted: it would be deleted with that image": async (world) => {
    const { status } = await syncImage(world, 'landlord');
    await adopt(world, 'lodger', status?.snapshot?.name ?? '');
    await untilReason(world, 'lodger', 'SnapshotOfAnotherImage');
    expectNoDownload(world, 'lodger');
  },
  'an adopted snapshot that a user deletes is reported as lost': {
    policy: keepsVolumes,
    run: async (world) => {
      await cut(world, await aDisk(world), 'golden');
      await adopt(world, 'robbed', 'golden');
      await untilPhase(world, 'robbed', 'Succeeded');
      await world.kube.delete(VolumeSnapshot, refIn(world, 'golden'));
      await untilReason(world, 'robbed', 'SnapshotLost');
    },
  },
});

/** Snapshots without an owner would disturb the next story of the same namespace. */
async function removeSnapshots(world: World): Promise<void> {
  for (const name of ['golden', 'given']) {
    await world.kube.delete(VolumeSnapshot, refIn(world, name));
    await untilGone(world, VolumeSnapshot, refIn(world, name));
  }
}

export const stories: readonly Story[] = all.map((story) => ({
  ...story,
  run: (world) => story.run(world).finally(() => removeSnapshots(world)),
}));
