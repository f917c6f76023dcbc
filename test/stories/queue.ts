import { expect } from 'vitest';
import { holdersOf, leaseName } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { putImage } from './images.ts';
import { createImage, type Story, setPolicy, until, untilPhase } from './world.ts';

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `image-${String(index).padStart(3, '0')}`);
const lease = { namespace: 'sync-operator', name: leaseName };

export const stories: readonly Story[] = [
  {
    name: 'images sync in the order of their creation, never more than two at once, and become ready',
    quick: true,
    smoke: true,
    run: async (world) => {
      const names = numbered(8);
      await putImage(world, 'one', { key: 'one.qcow2' });
      for (const name of names) await createImage(world, name, { url: `${world.store.url}/images/one.qcow2` });
      for (const name of names) {
        const { status } = await untilPhase(world, name, 'Succeeded', 30_000);
        expect(status).toMatchObject({ attempts: 1, snapshot: { revision: 1, restoreSize: '64Mi' } });
      }
      expect(world.history.starts().map(({ image }) => image)).toEqual(names);
      expect(world.history.mostAtOnce()).toBe(2);
      expect(world.history.phasesOf('image-000')).toEqual(['Queued', 'Syncing', 'Snapshotting', 'Succeeded']);
      await until(world, Lease, lease, (found) => holdersOf(found)?.length === 0);
    },
  },
  {
    name: 'concurrency 0 pauses the queue; a raised limit lets the next in at once',
    quick: true,
    policy: { concurrency: '0' },
    run: async (world) => {
      await putImage(world, 'a');
      await createImage(world, 'a');
      await untilPhase(world, 'a', 'Queued');
      expect(world.history.starts()).toEqual([]);
      await setPolicy(world, { concurrency: '1' });
      await untilPhase(world, 'a', 'Succeeded');
    },
  },
  {
    name: 'a lowered limit takes no slot away and gives none until it fits',
    run: async (world) => {
      world.store.limitTo(0);
      for (const name of ['a', 'b', 'c']) await putImage(world, name);
      for (const name of ['a', 'b', 'c']) await createImage(world, name);
      await untilPhase(world, 'a', 'Syncing');
      await untilPhase(world, 'b', 'Syncing');
      await setPolicy(world, { concurrency: '1' });
      world.store.limitTo(undefined);
      await untilPhase(world, 'c', 'Succeeded');
      expect(world.history.starts().map(({ image }) => image)).toEqual(['a', 'b', 'c']);
    },
  },
  {
    name: 'a Lease that is deleted or garbled is rebuilt from what downloads',
    run: async (world) => {
      world.store.limitTo(0);
      for (const name of ['a', 'b', 'c']) await putImage(world, name);
      for (const name of ['a', 'b', 'c']) await createImage(world, name);
      await untilPhase(world, 'b', 'Syncing');
      await world.kube.delete(Lease, lease);
      await until(world, Lease, lease, (found) => holdersOf(found)?.length === 2);
      await world.kube.patch(Lease, lease, { metadata: { annotations: { 'pelotech.ot/slots': '{"not":"slots"}' } } });
      await until(world, Lease, lease, (found) => holdersOf(found)?.length === 2);
      world.store.limitTo(undefined);
      for (const name of ['a', 'b', 'c']) await untilPhase(world, name, 'Succeeded');
      expect(world.history.mostAtOnce()).toBe(2);
    },
  },
  {
    name: 'with every event dropped the sweep alone brings all images home',
    localOnly: 'a real Broker drops nothing on demand',
    local: { faults: { drop: ({ event }) => String(event.attributes.type) !== 'dev.knative.sources.ping' } },
    run: async (world) => {
      const names = numbered(4);
      await putImage(world, 'one', { key: 'one.qcow2' });
      for (const name of names) await createImage(world, name, { url: `${world.store.url}/images/one.qcow2` });
      for (const name of names) await untilPhase(world, name, 'Succeeded', 40_000);
      expect(world.history.starts().map(({ image }) => image)).toEqual(names);
    },
  },
];
