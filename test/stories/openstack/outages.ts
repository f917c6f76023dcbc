import { expect } from 'vitest';
import { byName, setPolicy } from '../world.ts';
import { quickPolicy } from './run.ts';
import {
  contentOf,
  createMachine,
  createVolume,
  isReady,
  isWaitingFor,
  makeBootable,
  type OpenStackStory,
  projectOf,
  runningMachine,
  untilMachine,
} from './world.ts';

/** What all machines of an OpenStack suffer from at once: one after the other. */
export const stories = byName<OpenStackStory>({
  'a service that gives no answer for twenty seconds: it is reported, nothing is lost, nothing created twice': {
    isLong: true,
    async run(world) {
      await runningMachine(world);
      await createVolume(world, 'second');
      await makeBootable(world, 'second');
      world.hang('compute', 20_000);
      await createMachine(world, 'second', { diskAttachments: [{ name: 'second' }] });
      // Whichever a reconcile was about that met the silence from its beginning.
      const { status } = await Promise.any(
        ['vm', 'second'].map((name) => untilMachine(world, name, isWaitingFor('Unreachable'))),
      );
      expect(status?.message).toContain('compute');
      await untilMachine(world, 'vm', isReady);
      await untilMachine(world, 'second', isReady);
      const { servers } = await contentOf(await projectOf(world));
      expect(servers.map(({ name }) => name).sort()).toEqual(['second', 'vm']);
    },
  },
  'a host that is down for longer than the policy allows: the server is given up, and another boots once there is a host':
    {
      simulatedOnly: 'the one host of the real services is the process that answers for Nova, too',
      async run(world) {
        const before = await runningMachine(world);
        world.setHostUp(false);
        try {
          const { status } = await untilMachine(world, 'vm', isWaitingFor('HostDown'));
          expect(status).toMatchObject({
            phase: 'Failed',
            message: expect.stringMatching(/is down\. If that lasts for 1s/),
          });
          const tried = await untilMachine(world, 'vm', isWaitingFor('BootFailed'));
          expect(tried.status?.message).toContain('No valid host');
        } finally {
          world.setHostUp(true);
        }
        const after = await untilMachine(world, 'vm', isReady);
        expect(after.status?.id).not.toBe(before.status?.id);
        expect((await contentOf(await projectOf(world))).servers).toHaveLength(1);
      },
    },
  'a host that is down for a moment: the server stays, and that is over as soon as the host is back': {
    simulatedOnly: 'the one host of the real services is the process that answers for Nova, too',
    async run(world) {
      await setPolicy(world, { unreachableHostRecoverAfter: '1h' });
      try {
        const before = await runningMachine(world);
        world.setHostUp(false);
        const { status } = await untilMachine(world, 'vm', isWaitingFor('HostDown'));
        expect(status?.failedSince).toBeDefined();
        world.setHostUp(true);
        const after = await untilMachine(world, 'vm', isReady);
        expect(after.status).toMatchObject({ id: before.status?.id, phase: 'Running' });
        expect(after.status?.failedSince).toBeUndefined();
      } finally {
        world.setHostUp(true);
        await setPolicy(world, quickPolicy);
      }
    },
  },
});
