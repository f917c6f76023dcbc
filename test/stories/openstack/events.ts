import { expect } from 'vitest';
import { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import { untilEvent } from '../events.ts';
import { byName } from '../world.ts';
import {
  createMachine,
  createNetwork,
  createVolume,
  isPhase,
  makeBootable,
  type OpenStackStory,
  untilMachine,
  untilSo,
} from './world.ts';

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
      const told = await Promise.all(
        ready.map(({ metadata }) => untilEvent(world, `involvedObject.uid=${metadata.uid}`)),
      );
      expect(told).toMatchObject([
        { type: 'Normal', reason: 'Available', source: { component: 'provision-network' } },
        { type: 'Normal', reason: 'Available', source: { component: 'provision-volume' } },
        { type: 'Normal', reason: 'NotStarted', source: { component: 'provision-server' } },
      ]);
    },
  },
});
