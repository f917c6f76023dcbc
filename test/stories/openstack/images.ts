import { expect } from 'vitest';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { byName } from '../world.ts';
import { isReady } from './changes.ts';
import {
  contentOf,
  createMachine,
  createVolume,
  isPhase,
  isWaitingFor,
  type OpenStackStory,
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
    await untilNoImage(world);
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
    const image = (await project.send({
      service: 'image',
      operation: 'byHand',
      method: 'POST',
      path: '/v2/images',
      body: { name: `cirros of ${world.namespace}`, disk_format: 'raw', container_format: 'bare' },
    })) as { id: string };
    await project.send({
      service: 'image',
      operation: 'byHand',
      method: 'POST',
      path: `/v2/images/${image.id}/import`,
      body: { method: { name: 'web-download', uri: world.imageUrl('disk.raw') } },
    });
    await createVolume(world, 'by-id', { source: { image: image.id } });
    for (const name of ['by-name', 'by-id']) {
      const { status } = await untilSo(world, Volume, name, isPhase('Available'));
      expect(status).toMatchObject({ bootable: true });
    }
    const { images } = await contentOf(project);
    expect(images).toMatchObject([{ id: image.id, status: 'active' }]);
    await project.send({ service: 'image', operation: 'byHand', method: 'DELETE', path: `/v2/images/${image.id}` });
  },
});

/** Its last one is deleted after it was written down that it failed. */
async function untilNoImage(world: Parameters<typeof projectOf>[0]): Promise<void> {
  const project = await projectOf(world);
  for (const over = AbortSignal.timeout(20_000); !over.aborted; ) {
    if ((await contentOf(project)).images.length === 0) return;
    await new Promise((next) => setTimeout(next, 200));
  }
  throw new Error('expected no image of the volume to be left');
}
