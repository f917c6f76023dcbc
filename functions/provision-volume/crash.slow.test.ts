import { afterAll, expect, test } from 'vitest';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { GlanceImage } from '../../shared/kinds/openstack/image.ts';
import { CinderVolume, listVolumes } from '../../shared/kinds/openstack/volume.ts';
import { livesOf, type Stage } from '../../test/support/harness/openstack-crashes.ts';
import { anAccount, byHand, serveOnOpenStack, sessionOf } from '../../test/support/harness/openstack-harness.ts';
import declaration from './index.ts';

const harness = await serveOnOpenStack(declaration, { isQuick: true });
afterAll(harness.close);
const { kube, clock } = harness;
const account = await anAccount(harness.openStack, clock.now, 'lab');
await harness.namespace('lab', account);
const session = sessionOf(account, clock.now);

/** A volume that is filled from a URL, grows and is deleted. */
function stagesOf(name: string): Stage[] {
  const ref = { namespace: 'lab', name };
  const found = () => kube.get(Volume, ref);
  const content = async () => {
    const volumes = await session.list(listVolumes(), 'volumes', CinderVolume);
    const images = await session.list(byHand('image', 'GET', '/v2/images'), 'images', GlanceImage);
    return {
      volumes: volumes.map(({ size, status, bootable }) => ({ size, status, bootable })),
      images: images.length,
    };
  };
  const common = {
    look: (process: Parameters<Stage['look']>[0]) => process.changed(Volume, ref),
    isOver: async () => {
      const volume = await found();
      const isSaid = volume?.status?.observedGeneration === volume?.metadata.generation;
      return volume === undefined || (isSaid && volume.status?.phase === 'Available');
    },
    end: async () => ({ status: (await found())?.status, ...(await content()) }),
  };
  const { apiVersion, kind } = Volume;
  const spec = { size: '1Gi', source: { image: 'https://images.example.com/cirros.img' } };
  return [
    { ...common, act: () => kube.create(Volume, { apiVersion, kind, metadata: ref, spec }) },
    {
      ...common,
      act: () => kube.patch(Volume, ref, { spec: { size: '2Gi' } }),
      isOver: async () => (await common.isOver()) && (await found())?.status?.size === '2Gi',
    },
    { ...common, act: () => kube.delete(Volume, ref), isOver: async () => (await found()) === undefined },
  ];
}

test('a crash after any write, and another process, come to the same end', async () => {
  const { whole, lives } = await livesOf(harness, stagesOf);
  expect(whole).toMatchObject([
    { status: { phase: 'Available', bootable: true }, volumes: [{ size: 1 }], images: 0 },
    { status: { size: '2Gi' }, volumes: [{ size: 2 }] },
    { volumes: [], images: 0 },
  ]);
  expect(lives.length).toBeGreaterThanOrEqual(9);
  for (const { stage, write, ends } of lives)
    for (const [index, end] of ends.entries())
      if (end) expect({ stage, write, index, end }).toEqual({ stage, write, index, end: whole?.[index] });
});
