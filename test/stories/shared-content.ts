import { expect } from 'vitest';
import { qcow2Buffer } from '../../deploy/local/object-store/qcow2.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { inspected } from './inspection.ts';
import { createImage, refIn, type Spec, untilGone, untilPhase, type World } from './world.ts';

/** Some times what an inspection reads, so that it cannot be taken for a download. */
const dataBytes = 1024 * 1024;

/** Puts the same content under each of these names; returns its length. */
async function putContent({ store }: World, content: string, names: readonly string[]): Promise<number> {
  const bytes = qcow2Buffer({ virtualBytes: 32 * 1024 * 1024, dataBytes, seed: content });
  for (const name of names) await store.put('images', `${name}.qcow2`, bytes);
  return bytes.length;
}

/** How often one of these was downloaded as a whole. */
const downloads = ({ store }: World, names: readonly string[], bytes: number) =>
  names.reduce((sum, name) => sum + Math.floor(store.bytesSent(`images/${name}.qcow2`) / bytes), 0);

const succeeded = async (world: World, names: readonly string[]) => {
  const images = [];
  for (const name of names) images.push(await untilPhase(world, name, 'Succeeded'));
  return images;
};

const sharers = (images: readonly VMDiskImage[]) => images.filter(({ status }) => status?.sharedFrom);

async function downloadsOfBoth(world: World, specs: readonly Partial<Spec>[]): Promise<number> {
  const names = specs.map((_, index) => `image-${index}`);
  const bytes = await putContent(world, 'same', names);
  for (const [index, name] of names.entries()) {
    await createImage(world, name, specs[index]);
    await untilPhase(world, name, 'Succeeded');
  }
  return downloads(world, names, bytes);
}

export const stories = inspected({
  'an image waits for another of the same content that downloads, and is cloned from it': {
    quick: true,
    run: async (world) => {
      const names = ['first', 'second'];
      const bytes = await putContent(world, 'same', names);
      await createImage(world, 'first');
      await untilPhase(world, 'first', 'Syncing');
      await createImage(world, 'second');
      const [first, second] = await succeeded(world, names);
      expect(downloads(world, names, bytes)).toBe(1);
      expect(first?.status?.sharedFrom).toBeUndefined();
      expect(second?.status).toMatchObject({
        sharedFrom: { image: 'first', snapshot: first?.status?.snapshot?.name },
        attempts: 1,
      });
      expect(world.history.phasesOf('second')).toEqual(['Queued', 'Syncing', 'Snapshotting', 'Succeeded']);
      expect(second?.status?.snapshot?.name).not.toBe(first?.status?.snapshot?.name);
    },
  },
  'forty images of five contents are downloaded five times': {
    policy: { concurrency: '10' },
    run: async (world) => {
      const names = Array.from({ length: 40 }, (_, index) => `image-${index}`);
      let bytes = 0;
      for (let content = 0; content < 5; content++)
        bytes = await putContent(
          world,
          `content ${content}`,
          names.filter((_, index) => index % 5 === content),
        );
      await Promise.all(names.map((name) => createImage(world, name)));
      const images = await succeeded(world, names);
      expect(downloads(world, names, bytes)).toBe(5);
      expect(sharers(images)).toHaveLength(35);
    },
  },
  async 'an image that was cloned stays Ready and usable when the other is deleted'(world) {
    const names = ['donor', 'heir', 'later'];
    const bytes = await putContent(world, 'same', names);
    await createImage(world, 'donor');
    const donor = await untilPhase(world, 'donor', 'Succeeded');
    await createImage(world, 'heir');
    const heir = await untilPhase(world, 'heir', 'Succeeded');
    expect(heir.status?.sharedFrom?.image).toBe('donor');
    await world.kube.delete(VMDiskImage, refIn(world, 'donor'));
    await untilGone(world, VMDiskImage, refIn(world, 'donor'));
    await untilGone(world, VolumeSnapshot, refIn(world, donor.status?.snapshot?.name ?? ''));
    // What is cloned from it shows that it is usable.
    await createImage(world, 'later');
    const later = await untilPhase(world, 'later', 'Succeeded');
    expect(later.status?.sharedFrom).toEqual({ image: 'heir', snapshot: heir.status?.snapshot?.name });
    expect((await untilPhase(world, 'heir', 'Succeeded')).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    );
    expect(downloads(world, names, bytes)).toBe(1);
  },
  async 'the same content is downloaded again for a disk of another size'(world) {
    expect(await downloadsOfBoth(world, [{ diskSize: '64Mi' }, { diskSize: '128Mi' }])).toBe(2);
  },
  'an image of a content that fails to be downloaded keeps no other waiting': {
    policy: { retryLimit: '0' },
    run: async (world) => {
      const names = ['broken', 'sound'];
      await putContent(world, 'same', names);
      await createImage(world, 'broken');
      await untilPhase(world, 'broken', 'Syncing');
      world.store.faults.push({ match: 'broken', mode: 'cutAt', fraction: 0.5 });
      await createImage(world, 'sound');
      await untilPhase(world, 'broken', 'Failed');
      const sound = await untilPhase(world, 'sound', 'Succeeded');
      expect(sound.status?.sharedFrom).toBeUndefined();
    },
  },
  'an image whose clone fails is downloaded by its next attempt': {
    policy: { retryBackoffDuration: '1s' },
    simulators: { cdi: { faults: [{ match: 'heir-', mode: 'cloneError', forMs: 600_000 }] } },
    run: async (world) => {
      const names = ['donor', 'heir'];
      const bytes = await putContent(world, 'same', names);
      await createImage(world, 'donor');
      await untilPhase(world, 'donor', 'Succeeded');
      await createImage(world, 'heir');
      const retrying = await untilPhase(world, 'heir', 'Retrying');
      expect(retrying.status).toMatchObject({ attempt: 1, attempts: 0, sharedFrom: { image: 'donor' } });
      expect(retrying.status?.message).toContain('is downloaded instead');
      expect(downloads(world, names, bytes)).toBe(1);
      const heir = await untilPhase(world, 'heir', 'Succeeded');
      expect(heir.status).toMatchObject({ attempt: 2, attempts: 1 });
      expect(heir.status?.sharedFrom).toBeUndefined();
      expect(downloads(world, names, bytes)).toBe(2);
    },
  },
});
