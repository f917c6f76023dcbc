import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { hardwareKinds } from '../../shared/kinds/kubevirt/hardware.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import { putImage } from './images.ts';
import { createVm, untilMachine, untilReason } from './machines.ts';
import { aMachine, createWorkspace, deleteWorkspace, policyOf, untilWorkspace } from './workspaces.ts';
import { byName, type Story, setPolicy, type World } from './world.ts';

/** What KubeVirt's own windows.11 says of devices, firmware and size (common-instancetypes v1.7.0). */
const windows = {
  cpu: { preferredCPUTopology: 'sockets' },
  devices: { preferredDiskBus: 'sata', preferredInterfaceModel: 'e1000e', preferredTPM: { persistent: true } },
  features: { preferredSmm: {} },
  firmware: { preferredEfi: { persistent: true, secureBoot: true } },
  requirements: { cpu: { guest: 2 }, memory: { guest: '4Gi' } },
};
const large = { cpu: '2', memory: '4Gi' };

/** Creates an object for the whole cluster, which an earlier run may have left. */
async function offer({ kube }: World, field: keyof typeof hardwareKinds, name: string, spec: object): Promise<void> {
  await kube.create(hardwareKinds[field], { metadata: { name }, spec }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  });
}

const madeIn = ({ kube }: World, namespace: string) => kube.get(KubeVirtMachine, { namespace, name: 'vm' });

export const stories = byName<Story>({
  'a Windows machine of a workspace has the preference, firmware, TPM and disk bus that its image needs': {
    quick: true,
    smoke: true,
    policy: policyOf,
    run: async (world) => {
      const name = 'ot-story-windows';
      await offer(world, 'preference', name, windows);
      await putImage(world, 'base');
      const machine = aMachine(world, 'vm', 'base', {
        ...{ preference: name, resources: large, tpm: true, diskBus: 'scsi' },
        firmware: { bootloader: 'efi', secureBoot: true },
      });
      await createWorkspace(world, 'windows', { vms: [machine] });
      await untilWorkspace(world, 'windows', 'Ready');
      expect((await madeIn(world, 'ws-windows'))?.spec).toMatchObject({
        preference: { kind: 'VirtualMachineClusterPreference', name },
        template: {
          spec: {
            domain: {
              cpu: { sockets: 2 },
              firmware: { bootloader: { efi: { secureBoot: true } } },
              features: { smm: { enabled: true } },
              devices: {
                disks: [
                  { name: 'root', disk: { bus: 'scsi' } },
                  { name: 'cloudinit', disk: { bus: 'scsi' } },
                ],
                tpm: {},
              },
            },
          },
        },
      });
      await deleteWorkspace(world, 'windows');
      await world.kube.delete(hardwareKinds.preference, { name });
    },
  },
  'a preference that does not exist is named before anything is made, and the machine runs when it comes': {
    provesPermissions: {},
    smoke: true,
    run: async (world) => {
      const { kube, namespace } = world;
      const name = 'ot-story-comes-later';
      await createVm(world, { preference: name, resources: large });
      const { message } = await untilReason(world, 'vm', 'Ready', 'PreferenceMissing');
      expect(message).toContain(`VirtualMachineClusterPreference ${name} does not exist. Create it, or name another`);
      expect(await kube.get(DataVolume, { namespace, name: 'vm-root' })).toBeUndefined();
      expect(await madeIn(world, namespace)).toBeUndefined();
      await offer(world, 'preference', name, windows);
      await untilMachine(world, 'vm', 'Ready');
      await kube.delete(hardwareKinds.preference, { name });
    },
  },
  'an instancetype is used once it exists and the policy names it, and gives the machine its size': {
    provesPermissions: {},
    run: async (world) => {
      const { kube, namespace } = world;
      const name = 'ot-story.small';
      await createVm(world, { instancetype: name, resources: undefined });
      const { message } = await untilReason(world, 'vm', 'Ready', 'InstancetypeNotAllowed');
      expect(message).toContain(`set "machineInstancetypes: ${name}"`);
      await setPolicy(world, { machineInstancetypes: 'ot-story.*' });
      await untilReason(world, 'vm', 'Ready', 'InstancetypeMissing');
      await offer(world, 'instancetype', name, { cpu: { guest: 1 }, memory: { guest: '1Gi' } });
      await untilMachine(world, 'vm', 'Ready');
      const { instancetype, template } = (await madeIn(world, namespace))?.spec ?? {};
      expect(instancetype).toMatchObject({ kind: 'VirtualMachineClusterInstancetype', name });
      expect(template).not.toHaveProperty('spec.domain.memory');
      await kube.delete(hardwareKinds.instancetype, { name });
    },
  },
});
