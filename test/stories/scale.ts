import { expect } from 'vitest';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { startStandIn } from '../bench/stand-in.ts';
import { countReached } from './count-reached.ts';
import { uninspected } from './queue.ts';
import { queueOrder, slotOrder } from './queue-order.ts';
import { byName, createImage, type Story, setPolicy, until, type World } from './world.ts';

const count = 200;

/** Creates them one after the other; every other one has its finalizer from the beginning, as our own functions do it. */
async function createImages(world: World): Promise<void> {
  for (let index = 0; index < count; index++) {
    const metadata = index % 2 === 0 ? { finalizers: [diskImageFinalizer] } : {};
    await createImage(world, `image-${String(index).padStart(3, '0')}`, {}, metadata);
  }
}

const limitTo = (world: World, limit: number) => setPolicy(world, { concurrency: String(limit) });

export const stories = byName<Story>({
  '200 images, three replicas of start-sync, policy edits in between: order and limit hold': {
    localOnly:
      'start-sync has one instance on a real cluster; rivals are what a rolling update makes of it for a moment',
    // CDI and the snapshotter write some sixty times for one image, which other stories look at.
    simulators: false,
    policy: uninspected,
    local: { replicas: { 'start-sync': 3 }, schedules: { sweep: '*/2 * * * * *' } },
    run: async (world) => {
      const standIn = await startStandIn(world.kube, { importMs: () => 100, snapshotMs: 20 });
      const started = await countReached(world.kube, DataVolume, () => true);
      const succeeded = await countReached(world.kube, VMDiskImage, ({ status }) => status?.phase === 'Succeeded');
      await limitTo(world, 2);
      const created = createImages(world);
      await started.until(10);
      await limitTo(world, 8);
      await created;
      await started.until(150);
      await limitTo(world, 0);
      await until(world, Lease, leaseRef, (found) => holdersOf(found)?.length === 0);
      const paused = world.history.starts().length;
      await limitTo(world, 4);
      await succeeded.until(count);
      await until(world, Lease, leaseRef, (found) => holdersOf(found)?.length === 0);
      await Promise.all([started.stop(), succeeded.stop(), standIn.stop()]);

      expect(paused).toBeLessThan(count);
      // Rivals give slots in this order; of two images that got theirs from two of them either may begin first.
      expect(slotOrder(world.history.changes())).toEqual(queueOrder(world.history.changes()));
      expect(world.history.starts()).toHaveLength(count);
    },
  },
});
