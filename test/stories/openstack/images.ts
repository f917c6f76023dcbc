import { expect, vi } from 'vitest';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { byName } from '../world.ts';
import {
  byHand,
  contentOf,
  createMachine,
  createVolume,
  isPhase,
  isReady,
  isWaitingFor,
  type OpenStackStory,
  polling,
  projectOf,
  untilMachine,
  untilSo,
} from './world.ts';

/** What volumes are filled from. */
export const stories = byName<OpenStackStory>({
  async 'a volume from a URL is bootable by itself, and the image it came from goes'(world) {
    await createVolume(world, 'disk', { source: { image: world.imageUrl('held.raw') } });
    await untilSo(world, Volume, 'disk', isPhase('Downloading'));
    world.letDownload();
    await createMachine(world, 'vm', { diskAttachments: [{ name: 'disk' }] });
    await untilMachine(world, 'vm', isReady);
    const { status } = await untilSo(world, Volume, 'disk', isPhase('InUse'));
    expect(status).toMatchObject({ bootable: true, ready: true });
    expect((await contentOf(await projectOf(world))).images).toEqual([]);
  },
  async 'a URL that is not there is tried as often as the policy says, then no more, and leaves nothing in Glance'(
    world,
  ) {
    await createVolume(world, 'disk', { source: { image: world.imageUrl('missing.qcow2') } });
    const waiting = await untilSo(world, Volume, 'disk', isWaitingFor('DownloadFailed'));
    expect(waiting.status).toMatchObject({
      phase: 'Pending',
      attempts: 1,
      message: expect.stringContaining('it is tried again at'),
    });
    const { status } = await untilSo(world, Volume, 'disk', isPhase('Failed'));
    expect(status).toMatchObject({
      attempts: 3,
      message: expect.stringMatching(/^Glance could not download https?:\/\/[^?\s]+, 3 times/),
    });
    // Its last one is deleted after it was written down that it failed.
    const project = await projectOf(world);
    await vi.waitFor(async () => expect((await contentOf(project)).images).toEqual([]), polling);
  },
  async 'a disk that is smaller than its image reports it in the words of Cinder, and heals once it is large enough'(
    world,
  ) {
    const { kube, namespace } = world;
    await createVolume(world, 'disk', { source: { image: world.imageUrl('large.qcow2') } });
    const { status } = await untilSo(world, Volume, 'disk', isWaitingFor('Refused'));
    expect(status).toMatchObject({ phase: 'Failed', message: expect.stringMatching(/ 2 ?GB .* 1 ?GB/) });
    await kube.patch(Volume, { namespace, name: 'disk' }, { spec: { size: '2Gi' } });
    const healed = await untilSo(world, Volume, 'disk', isPhase('Available'));
    expect(healed.status).toMatchObject({ size: '2Gi', bootable: true });
  },
  async 'an existing image is taken by its name or its id; a missing one is waited for'(world) {
    await createVolume(world, 'by-name', { source: { image: `cirros of ${world.namespace}` } });
    await untilSo(world, Volume, 'by-name', isWaitingFor('ImageMissing'));
    const project = await projectOf(world);
    const empty = { name: `cirros of ${world.namespace}`, disk_format: 'raw', container_format: 'bare' };
    const image = (await byHand(project, 'image', 'POST', '/v2/images', empty)) as { id: string };
    const method = { name: 'web-download', uri: world.imageUrl('disk.raw') };
    await byHand(project, 'image', 'POST', `/v2/images/${image.id}/import`, { method });
    await createVolume(world, 'by-id', { source: { image: image.id } });
    for (const name of ['by-name', 'by-id']) {
      const { status } = await untilSo(world, Volume, name, isPhase('Available'));
      expect(status).toMatchObject({ bootable: true });
    }
    const { images } = await contentOf(project);
    expect(images).toMatchObject([{ id: image.id, status: 'active' }]);
    await byHand(project, 'image', 'DELETE', `/v2/images/${image.id}`);
  },
});
