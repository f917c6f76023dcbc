import { expect } from 'vitest';
import type { MachineFaultRule } from '../../deploy/local/kubevirt/faults.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { warningsOf } from './events.ts';
import { createNetwork, createVm, readyVm, reasonOf, untilMachine, untilReason } from './machines.ts';
import { byName, find, refIn, type Story, untilAnother } from './world.ts';

type Simulators = NonNullable<Story['simulators']>;

const simulated = (...faults: MachineFaultRule[]): Simulators => ({ kubevirt: { faults } });

/** The same trouble twice: it fails a machine only where it lasts longer than the policy says, and in both cases it heals. */
const troubled = (
  name: string,
  reason: string,
  { simulators, limit = 'machineFailedAfter' }: { simulators: Simulators; limit?: string },
): readonly Story[] =>
  byName<Story>({
    [`${name}: Failed with ${reason} once that has lasted ${limit}, and Ready when it is over`]: {
      simulators,
      // Nothing but an audit tells that time has passed, and on a real cluster that is rare.
      policy: { [limit]: '0s' },
      run: async (world) => {
        await createVm(world);
        const failed = await untilMachine(world, 'vm', 'Failed');
        expect(reasonOf(failed, 'Ready')).toBe(reason);
        expect(failed.status?.trouble?.reason).toBe(reason);
        const ready = await untilMachine(world, 'vm', 'Ready');
        expect(ready.status?.trouble).toBeUndefined();
        expect(await warningsOf(world, world.namespace, reason)).toMatchObject([
          { involvedObject: { kind: 'VirtualMachine', name: 'vm' }, source: { component: 'provision-vm' } },
        ]);
      },
    },
    [`${name}: no failure, but trouble that is reported, while it may yet heal`]: {
      simulators,
      run: async (world) => {
        await createVm(world);
        const { message } = await untilReason(world, 'vm', 'Ready', reason);
        expect(message).toContain('it may recover by itself');
        expect((await find(world, VirtualMachine, 'vm'))?.status?.phase).not.toBe('Failed');
        await untilMachine(world, 'vm', 'Ready');
        expect(await warningsOf(world, world.namespace, reason)).toEqual([]);
      },
    },
  });

export const stories: readonly Story[] = [
  ...troubled('a machine that no node takes', 'Unschedulable', {
    simulators: simulated({ match: 'vm', mode: 'unschedulable', forMs: 3000 }),
    limit: 'machineUnschedulableAfter',
  }),
  ...troubled('a claim that KubeVirt does not find', 'ClaimNotFound', {
    simulators: simulated({ match: 'vm', mode: 'pvcNotFound', forMs: 3000 }),
  }),
  ...troubled('a disk that KubeVirt takes for failing', 'DataVolumeError', {
    simulators: simulated({ match: 'vm', mode: 'dataVolumeError', forMs: 3000 }),
  }),
  ...troubled('a clone that meets an error', 'CloneFailed', {
    simulators: { cdi: { faults: [{ match: 'vm-root', mode: 'cloneError', forMs: 3000 }] } },
  }),
  // A cause that lasts less than ten seconds is reported only if machineFailedAfter is 0.
  ...troubled('a guest that KubeVirt cannot start', 'LaunchFailed', {
    simulators: simulated({ match: 'vm', mode: 'domainFails', forMs: 15_000 }),
  }),
  ...troubled("a launcher's image that cannot be pulled", 'ImagePullFailed', {
    simulators: { kubevirt: { faults: [{ match: 'vm', mode: 'imagePull', times: 4 }], timings: { pollMs: 500 } } },
  }),
  ...byName<Story>({
    'a machine that ends as soon as it starts is Failed from the third time on, and Ready when it holds': {
      quick: true,
      simulators: simulated({ match: 'vm', mode: 'crashLoop', times: 4 }),
      run: async (world) => {
        await createVm(world);
        const failed = await untilMachine(world, 'vm', 'Failed');
        expect(reasonOf(failed, 'Ready')).toBe('CrashLoopBackOff');
        expect(failed.status?.message).toMatch(/ended [34] times in a row/);
        await untilMachine(world, 'vm', 'Ready');
      },
    },
    'a machine that ended twice has not failed': {
      simulators: simulated({ match: 'vm', mode: 'crashLoop', times: 2 }),
      run: async (world) => {
        await createVm(world);
        await untilReason(world, 'vm', 'Ready', 'CrashLoopBackOff');
        await untilMachine(world, 'vm', 'Ready');
        expect(await warningsOf(world, world.namespace, 'CrashLoopBackOff')).toEqual([]);
      },
    },
    'a network that does not exist is named before the machine is made, and the machine runs when it comes': async (
      world,
    ) => {
      const { kube, namespace } = world;
      await createVm(world, { interfaces: [{ network: 'not-there-yet' }] });
      const { message } = await untilReason(world, 'vm', 'Ready', 'NetworkMissing');
      expect(message).toContain(`NetworkAttachmentDefinition ${namespace}/not-there-yet does not exist`);
      expect(await kube.get(KubeVirtMachine, { namespace, name: 'vm' })).toBeUndefined();
      await createNetwork(world, 'not-there-yet');
      await untilMachine(world, 'vm', 'Ready');
      expect(await warningsOf(world, namespace, 'NetworkMissing')).toEqual([]);
    },
    'a network that was deleted keeps a machine from starting again, and is named where KubeVirt says nothing': async (
      world,
    ) => {
      const { kube, namespace } = world;
      await createNetwork(world, 'edge');
      await readyVm(world, { interfaces: [{ network: 'edge' }] });
      await kube.delete(NetworkAttachmentDefinition, { namespace, name: 'edge' });
      await kube.delete(KubeVirtInstance, { namespace, name: 'vm' });
      const { message } = await untilReason(world, 'vm', 'Ready', 'NetworkMissing');
      expect(message).toContain(`${namespace}/edge does not exist`);
      await createNetwork(world, 'edge');
      await untilMachine(world, 'vm', 'Ready');
    },
    'a machine whose node is lost is not Ready, and is again on another': {
      provesPermissions: { of: ['source-kubevirt'] },
      simulators: {
        kubevirt: {
          faults: [{ match: 'vm', mode: 'nodeLost', afterMs: 1500, times: 1 }],
          timings: { nodeLostMs: 3000 },
        },
      },
      run: async (world) => {
        await readyVm(world);
        const first = await find(world, KubeVirtInstance, 'vm');
        await untilReason(world, 'vm', 'Ready', 'GuestNotReady');
        const isRunning = ({ status }: KubeVirtInstance) => status?.phase === 'Running';
        await untilAnother(world, KubeVirtInstance, refIn(world, 'vm'), first?.metadata.uid, isRunning);
        await untilMachine(world, 'vm', 'Ready');
      },
    },
    'a guest that powers itself off is started again, and the machine was Ready for the first time once': {
      simulators: simulated({ match: 'vm', mode: 'guestShutdown', afterMs: 1000, times: 1 }),
      run: async (world) => {
        const first = await readyVm(world);
        await untilMachine(world, 'vm', 'Provisioning');
        const again = await untilMachine(world, 'vm', 'Ready');
        expect(again.status?.readyAt).toBe(first.status?.readyAt);
        expect(await find(world, KubeVirtInstance, 'vm')).toBeDefined();
      },
    },
    'a name that is taken fails the machine without touching what has it, and heals when that is gone': {
      smoke: true,
      run: async (world) => {
        const { kube, namespace } = world;
        const metadata = { name: 'vm-cloud-init', namespace };
        const data = { userdata: Buffer.from('mine').toString('base64') };
        await kube.create(Secret, { metadata, data });
        await createVm(world);
        const failed = await untilMachine(world, 'vm', 'Failed');
        expect(reasonOf(failed, 'Ready')).toBe('NameTaken');
        expect((await kube.get(Secret, metadata))?.data).toEqual(data);
        await kube.delete(Secret, metadata);
        await untilMachine(world, 'vm', 'Ready');
        expect(await kube.list(Event, { namespace, fieldSelector: 'reason=NameTaken' })).toHaveLength(1);
      },
    },
  }),
];
