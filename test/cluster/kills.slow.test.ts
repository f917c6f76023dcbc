import { describe, expect, test } from 'vitest';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from '../stories/images.ts';
import { createImage, type Story, until, type World } from '../stories/world.ts';
import { installed } from './installed.ts';
import { persistently } from './persistently.ts';
import { victims } from './victims.ts';
import { adminClient, onRealCluster } from './world.ts';

const limit = 4;
const names = Array.from({ length: 20 }, (_, index) => `image-${String(index).padStart(2, '0')}`);

/** Twenty images, and kills at equal distances, so that every kill falls into the middle of syncs. */
const story = (name: string, kill: () => Promise<void>, kills = 2): Story => ({
  name,
  policy: { concurrency: String(limit), retryBackoffDuration: '1s' },
  run: async (world) => {
    world.store.limitTo(8 * 1024 * 1024);
    await putImage(world, 'one', { key: 'one.qcow2', dataBytes: 4 * 1024 * 1024 });
    for (const image of names) await createImage(world, image, { url: `${world.store.url}/images/one.qcow2` });
    for (let killed = 1; killed <= kills; killed++) {
      await doneAtLeast(world, Math.floor((names.length * killed) / (kills + 2)));
      await kill();
    }
    await doneAtLeast(world, names.length);
    expect(world.history.mostAtOnce()).toBeLessThanOrEqual(limit);
  },
});

/** Resolves when this many images are ready, whatever the API server goes through meanwhile. */
async function doneAtLeast({ kube, namespace }: World, count: number): Promise<void> {
  const isReady = (image: VMDiskImage | undefined) => image?.status?.phase === 'Succeeded';
  for (const name of names.slice(0, count)) {
    await persistently(() => until({ kube }, VMDiskImage, { namespace, name }, isReady, 120_000));
  }
}

const broker = installed('serving');

describe('twenty syncs all end well, and no limit is broken, when in the middle of them a kill hits', () => {
  for (const [name, kill] of Object.entries(victims)) {
    test(name, () => onRealCluster(story(name, kill), { kube: adminClient(), broker: broker() }), 300_000);
  }
});
