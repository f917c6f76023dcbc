import { expect, test } from 'vitest';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { GlanceImage } from '../../shared/kinds/openstack/image.ts';
import { CinderVolume, listVolumes } from '../../shared/kinds/openstack/volume.ts';
import { livesOf, withOneAccount } from '../../test/support/harness/openstack-crashes.ts';
import { byHand } from '../../test/support/harness/openstack-harness.ts';
import declaration from './index.ts';

const { harness, session } = await withOneAccount(declaration);

test('a crash after any write, and another process, come to the same end', async () => {
  const { whole, lives } = await livesOf(harness, {
    resource: Volume,
    spec: { size: '1Gi', source: { image: 'https://images.example.com/cirros.img' } },
    changes: [{ size: '2Gi' }],
    isDone: ({ spec, status }) => status?.phase === 'Available' && status.size === spec.size,
    content: async () => {
      const volumes = await session.list(listVolumes(), 'volumes', CinderVolume);
      const images = await session.list(byHand('image', 'GET', '/v2/images'), 'images', GlanceImage);
      return {
        volumes: volumes.map(({ size, status, bootable }) => ({ size, status, bootable })),
        images: images.length,
      };
    },
  });
  expect(whole).toMatchObject([
    { status: { phase: 'Available', bootable: true }, volumes: [{ size: 1 }], images: 0 },
    { status: { size: '2Gi' }, volumes: [{ size: 2 }] },
    { volumes: [], images: 0 },
  ]);
  expect(lives).toBeGreaterThanOrEqual(9);
});
