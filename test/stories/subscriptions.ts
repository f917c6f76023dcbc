import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { leaseRef } from '../../shared/images/slots.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from './images.ts';
import { byName, createImage, type Story, setPolicy, until, untilGone, untilPhase, type World } from './world.ts';

/** Resolves when nothing has changed for a second: what happens next was woken by what the story does next. */
export async function calm({ history }: World): Promise<void> {
  for (let seen = -1; seen !== history.changes().length; ) {
    seen = history.changes().length;
    await sleep(1000);
  }
}

/** A Broker that brings no event but those of timers. */
export const dropsAllButTimers: NonNullable<Story['local']> = {
  faults: { drop: ({ event }) => String(event.attributes.type) !== 'dev.knative.sources.ping' },
};

/** Stories in which one thing alone can wake the function that has to act. */
export const stories = byName<Story>({
  'a raised limit starts the next image also if nothing else happens': {
    provesPermissions: {},
    smoke: true,
    policy: { concurrency: '0' },
    run: async (world) => {
      await putImage(world, 'waits');
      await createImage(world, 'waits');
      await untilPhase(world, 'waits', 'Queued');
      await calm(world);
      expect(world.history.starts()).toEqual([]);
      await setPolicy(world, { concurrency: '1' });
      await untilPhase(world, 'waits', 'Syncing');
    },
  },
  'a slot Lease that is deleted while nothing happens is created again': {
    smoke: true,
    policy: { concurrency: '0' },
    run: async (world) => {
      await createImage(world, 'waits');
      await untilPhase(world, 'waits', 'Queued');
      await calm(world);
      await world.kube.delete(Lease, leaseRef);
      await until(world, Lease, leaseRef, (found) => found !== undefined);
    },
  },
  'with every event dropped the audit alone takes a deleted image down': {
    provesPermissions: { byTimers: true },
    quick: true,
    localOnly: 'a real Broker drops nothing on demand',
    local: dropsAllButTimers,
    policy: { concurrency: '0' },
    run: async (world) => {
      await createImage(world, 'gone');
      await untilPhase(world, 'gone', 'Queued');
      const ref = { namespace: world.namespace, name: 'gone' };
      await world.kube.delete(VMDiskImage, ref);
      await untilGone(world, VMDiskImage, ref);
    },
  },
});
