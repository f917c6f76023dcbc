import { expect } from 'vitest';
import { Event } from '../../../shared/kinds/core/event.ts';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { byName } from '../world.ts';
import {
  createMachine,
  createNetwork,
  createVolume,
  isPhase,
  makeBootable,
  type OpenStackStory,
  type OpenStackWorld,
  untilMachine,
  untilSo,
} from './world.ts';

/** An Event as it is read. */
interface Told {
  involvedObject: { uid: string };
  type: string;
  reason: string;
  source: { component: string };
}

/** Resolves with the Event about the object. */
async function untilTold({ kube, namespace }: OpenStackWorld, uid: string): Promise<Told> {
  const over = AbortSignal.timeout(30_000);
  for (;;) {
    const events = (await kube.list(Event, { namespace })) as unknown as Told[];
    const found = events.find(({ involvedObject }) => involvedObject.uid === uid);
    if (found) return found;
    over.throwIfAborted();
    await new Promise((next) => setTimeout(next, 100));
  }
}

/** What `kubectl describe` shows of an object's life. */
export const stories = byName<OpenStackStory>({
  'a network, a volume and a machine that get Ready tell so in an Event each': {
    provesPermissions: { alsoBy: ['audit', 'sweep'] },
    async run(world) {
      await createNetwork(world, 'net');
      await createVolume(world, 'disk');
      await makeBootable(world, 'disk');
      await createMachine(world, 'vm', {
        running: false,
        virtualNetworks: ['net'],
        diskAttachments: [{ name: 'disk' }],
      });
      const ready = [
        await untilSo(world, VirtualNetwork, 'net', isPhase('Available')),
        await untilSo(world, Volume, 'disk', isPhase('Available')),
        await untilMachine(world, 'vm', isPhase('Stopped')),
      ];
      const told = await Promise.all(ready.map(({ metadata }) => untilTold(world, metadata.uid)));
      expect(told).toMatchObject([
        { type: 'Normal', reason: 'Available', source: { component: 'provision-network' } },
        { type: 'Normal', reason: 'Available', source: { component: 'provision-volume' } },
        { type: 'Normal', reason: 'NotStarted', source: { component: 'provision-server' } },
      ]);
    },
  },
});
