import { expect } from 'vitest';
import { hangs } from '../../deploy/local/kubevirt/guest.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { putImage } from './images.ts';
import { createMachine, readyVm, reasonOf, templateOf, untilMachine, untilReason } from './machines.ts';
import { aMachine, createWorkspace, deleteWorkspace, policyOf, untilComponent, untilWorkspace } from './workspaces.ts';
import { byName, find, refIn, type Story, untilAnother, type World } from './world.ts';

type Readiness = NonNullable<VirtualMachine['spec']['readiness']>;

const asking = (more: Partial<Readiness>): Readiness => ({
  timeout: '10m',
  failureThreshold: 3,
  onFailure: 'Report',
  ...more,
});

/** Its guest hangs from now on, or no longer. */
const hang = ({ kube, namespace }: World, value: string | null) =>
  kube.patch(KubeVirtInstance, { namespace, name: 'vm' }, { metadata: { annotations: { [hangs]: value } } });

const instanceOf = (world: World) => find(world, KubeVirtInstance, 'vm');

export const stories = byName<Story>({
  'a disk of an HTML page is never Ready if its guest is to answer, and its machine says what to look at': {
    quick: true,
    smoke: true,
    // What boots nothing has no agent.
    simulators: { kubevirt: { faults: [{ match: 'vm', mode: 'noAgent' }] } },
    run: async (world) => {
      const { namespace } = world;
      await world.store.put('images', 'page.qcow2', `<!DOCTYPE html><html>${'<p>Not here</p>'.repeat(200)}</html>`);
      const vmDiskImageTemplate = templateOf(world, 'page');
      await createMachine(world, 'vm', 'page', {
        vmDiskImageTemplate,
        readiness: asking({ guestAgent: true, timeout: '1s' }),
      });
      await createMachine(world, 'unasked', 'page', { vmDiskImageTemplate });
      const failed = await untilMachine(world, 'vm', 'Failed');
      expect(reasonOf(failed, 'Ready')).toBe('GuestStarting');
      expect(conditionOf(failed.status?.conditions, 'GuestReady')).toMatchObject({
        status: 'False',
        reason: 'GuestStarting',
      });
      expect(conditionOf(failed.status?.conditions, 'MachineReady')).toMatchObject({
        status: 'True',
        reason: 'Running',
      });
      expect(failed.status?.message).toBe(
        `The machine runs, and its guest agent has not answered yet. That has lasted 1s. Its disk may hold nothing that boots, or its guest runs no qemu-guest-agent. Look at its console: virtctl console vm -n ${namespace}.`,
      );
      expect(failed.status?.readyAt).toBeUndefined();
      // KubeVirt's own word says nothing of the guest.
      const { status } = await untilMachine(world, 'unasked', 'Ready');
      expect(conditionOf(status?.conditions, 'GuestReady')).toBeUndefined();
    },
  },
  'a guest that stops answering is reported and not started again, and its machine is Ready when it answers': {
    quick: true,
    run: async (world) => {
      const ready = await readyVm(world, { readiness: asking({ tcp: 22, failureThreshold: 1 }) });
      expect(conditionOf(ready.status?.conditions, 'GuestReady')?.message).toBe('Its port 22 answers.');
      const first = await instanceOf(world);
      await hang(world, 'now');
      const { message } = await untilReason(world, 'vm', 'Ready', 'GuestNotAnswering');
      expect(message).toContain('The machine runs, and its port 22 no longer answers.');
      await hang(world, null);
      await untilMachine(world, 'vm', 'Ready');
      expect((await instanceOf(world))?.metadata.uid).toBe(first?.metadata.uid);
    },
  },
  'a guest that stops answering is started again if onFailure says Restart': async (world) => {
    await readyVm(world, {
      readiness: asking({ guestAgent: true, timeout: '1m', failureThreshold: 1, onFailure: 'Restart' }),
    });
    const first = await instanceOf(world);
    await hang(world, 'now');
    await untilAnother(world, KubeVirtInstance, refIn(world, 'vm'), first?.metadata.uid);
    await untilMachine(world, 'vm', 'Ready');
  },
  'a guest that is to be checked from now on is checked after a restart, and not before': async (world) => {
    const { kube, namespace } = world;
    await readyVm(world);
    await kube.patch(VirtualMachine, { namespace, name: 'vm' }, { spec: { readiness: { guestAgent: true } } });
    const { status } = await untilReason(world, 'vm', 'GuestReady', 'GuestNotChecked');
    expect(status).toBe('Unknown');
    await untilReason(world, 'vm', 'RestartRequired', 'SpecChanged');
    await kube.delete(KubeVirtInstance, { namespace, name: 'vm' });
    await untilReason(world, 'vm', 'GuestReady', 'GuestAnswers');
    await untilMachine(world, 'vm', 'Ready');
  },
  'a workspace is Ready only once the guest of its machine answers': {
    policy: policyOf,
    simulators: { kubevirt: { timings: { agentMs: 3000 } } },
    run: async (world) => {
      await putImage(world, 'base');
      const readiness = asking({ guestAgent: true });
      await createWorkspace(world, 'guests', { vms: [aMachine(world, 'vm', 'base', { readiness })] });
      await untilComponent(world, 'guests', ['VirtualMachine', 'vm'], 'Provisioning', 'GuestStarting');
      await untilWorkspace(world, 'guests', 'Ready');
      await deleteWorkspace(world, 'guests');
    },
  },
});
