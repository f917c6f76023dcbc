import { expect } from 'vitest';
import { bytesSince, egressIn } from '../../shared/images/egress.ts';
import { sharesSince } from '../../shared/images/egress-shares.ts';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from './images.ts';
import { createMachine, templateOf } from './machines.ts';
import { byName, createImage, type Story, setPolicy, until, untilGone, untilPhase } from './world.ts';

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `image-${String(index).padStart(3, '0')}`);

/** Inspections end in any order, and a free slot goes to the first in the queue whose inspection is over. */
export const uninspected = { inspectTimeout: '0s' };

export const stories = byName<Story>({
  'images sync in the order of their creation, never more than two at once, and become ready': {
    quick: true,
    smoke: true,
    policy: uninspected,
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
      await until(world, Lease, leaseRef, (found) => holdersOf(found)?.length === 0);
    },
  },
  'concurrency 0 pauses the queue; a raised limit lets the next in at once': {
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
  'a spent budget starts nothing but what an admin lets go ahead, and a raised one lets the next in at once': {
    quick: true,
    smoke: true,
    policy: { imageNamespaces: 'lab' },
    run: async (world) => {
      const spent = async () => bytesSince(egressIn(await world.kube.get(Lease, leaseRef)), 1, Date.now());
      for (const name of ['a', 'b', 'c']) await putImage(world, name);
      await setPolicy(world, { egressBudget: `${(await spent()) + 1}/1d` });
      await createImage(world, 'a');
      const { status } = await untilPhase(world, 'a', 'Succeeded');
      expect(status?.egressBytes).toBeGreaterThan(1);
      await createImage(world, 'b');
      await untilPhase(world, 'b', 'Queued');
      await createImage(world, 'c', {}, { annotations: { 'pelotech.ot/ignore-budget': 'true' } });
      await untilPhase(world, 'c', 'Succeeded');
      await setPolicy(world, { egressBudget: `${(await spent()) + 1}/1d` });
      await untilPhase(world, 'b', 'Succeeded');
      expect(world.history.starts().map(({ image }) => image)).toEqual(['a', 'c', 'b']);
    },
  },
  'bytes are kept by image, also of one that is deleted, and by who asked for them': {
    quick: true,
    smoke: true,
    run: async (world) => {
      const { namespace, kube } = world;
      // On a shared cluster other stories had more than fifty images today.
      const none = { 'pelotech.ot/egress-by-image': null, 'pelotech.ot/egress-by-requester': null };
      if (await kube.get(Lease, leaseRef)) await kube.patch(Lease, leaseRef, { metadata: { annotations: none } });
      for (const name of ['own', 'asked']) await putImage(world, name);
      await createImage(world, 'own', { diskSize: '128Mi' });
      const own = (await untilPhase(world, 'own', 'Succeeded')).status?.egressBytes;
      await createMachine(world, 'vm', 'asked', { vmDiskImageTemplate: templateOf(world, 'asked') });
      const { egressBytes: asked, history = [] } = (await untilPhase(world, 'asked', 'Succeeded')).status ?? {};
      expect(history.filter(({ bytes }) => bytes !== undefined)).toMatchObject([{ fact: 'Syncing', bytes: asked }]);
      await kube.delete(VMDiskImage, { namespace, name: 'own' });
      await untilGone(world, VMDiskImage, { namespace, name: 'own' });
      const shares = async (by: 'image' | 'requester') => {
        const { others: _, ...named } = Object.fromEntries(
          sharesSince(await kube.get(Lease, leaseRef), by, 1, Date.now()),
        );
        return named;
      };
      expect(await shares('image')).toEqual({ [`${namespace}/own`]: own, [`${namespace}/asked`]: asked });
      expect(await shares('requester')).toEqual({ direct: own, [`VirtualMachine ${namespace}/vm`]: asked });
    },
  },
  'a lowered limit takes no slot away and gives none until it fits': {
    policy: uninspected,
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
  'a Lease that is deleted or garbled is rebuilt from what downloads': {
    policy: uninspected,
    run: async (world) => {
      world.store.limitTo(0);
      for (const name of ['a', 'b', 'c']) await putImage(world, name);
      for (const name of ['a', 'b', 'c']) await createImage(world, name);
      await untilPhase(world, 'b', 'Syncing');
      await world.kube.delete(Lease, leaseRef);
      await until(world, Lease, leaseRef, (found) => holdersOf(found)?.length === 2);
      await world.kube.patch(Lease, leaseRef, {
        metadata: { annotations: { 'pelotech.ot/slots': '{"not":"slots"}' } },
      });
      await until(world, Lease, leaseRef, (found) => holdersOf(found)?.length === 2);
      world.store.limitTo(undefined);
      for (const name of ['a', 'b', 'c']) await untilPhase(world, name, 'Succeeded');
      expect(world.history.mostAtOnce()).toBe(2);
    },
  },
  'with every event dropped the sweep alone brings all images home': {
    policy: uninspected,
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
});
