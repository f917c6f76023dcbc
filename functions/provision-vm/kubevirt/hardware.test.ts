import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { compileSchema } from '../../../deploy/local/api-server/schema.ts';
import { admitMachine } from '../../../deploy/local/kubevirt/admit.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { Readiness, type VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { start } from '../../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import {
  aMadeMachine,
  changed,
  type Given,
  madeIn,
  reconcile,
  written,
} from '../../../test/support/harness/provision-vm.ts';

type Spec = Partial<VirtualMachine['spec']>;

interface Made {
  metadata: { annotations?: Record<string, string> };
  spec: {
    preference?: object;
    instancetype?: object;
    template: { spec: { domain: { devices: { disks: { disk: object }[]; tpm?: object } } & Record<string, object> } };
  };
}

const policy = { machineInstancetypes: 'u1.*' };
const madeOf = (spec: Spec) => {
  const { actions } = reconcile({ policy, machine: aVirtualMachine({ spec }) });
  return madeIn(actions, KubeVirtMachine) as unknown as Made;
};
const changedTo = (given: Given) => madeIn(reconcile({ policy, ...given }).actions, KubeVirtMachine) as unknown as Made;

/** As KubeVirt's own windows.11 has it (common-instancetypes v1.7.0). */
const windows11 = {
  spec: {
    cpu: { preferredCPUTopology: 'sockets' },
    devices: { preferredDiskBus: 'sata', preferredTPM: { persistent: true } },
    features: { preferredSmm: {} },
    firmware: { preferredEfi: { persistent: true, secureBoot: true } },
    requirements: { cpu: { guest: 2 }, memory: { guest: '4Gi' } },
  },
};
const medium = { spec: { cpu: { guest: 2 }, memory: { guest: '4Gi' } } };
const large = { cpu: '2', memory: '4Gi' };

const specs: [string, Spec][] = [
  ['nothing', {}],
  ['UEFI', { firmware: { bootloader: 'efi' } }],
  ['Secure Boot and a TPM', { firmware: { bootloader: 'efi', secureBoot: true }, tpm: true }],
  ['BIOS without Secure Boot', { firmware: { bootloader: 'bios', secureBoot: false } }],
  ...(['virtio', 'sata', 'scsi', 'usb'] as const).map((diskBus): [string, Spec] => [diskBus, { diskBus }]),
  ['a preference', { preference: 'windows.11', resources: large }],
  ['a preference and half a core more', { preference: 'windows.11', resources: { ...large, cpu: '2500m' } }],
  [
    'a preference, and UEFI without its Secure Boot',
    { preference: 'windows.11', resources: large, firmware: { bootloader: 'efi' } },
  ],
  ['a preference without its TPM', { preference: 'windows.11', resources: large, tpm: false }],
  ['an instancetype', { instancetype: 'u1.medium', resources: undefined }],
  [
    'a preference and an instancetype',
    { preference: 'windows.11', instancetype: 'u1.medium', resources: { diskSize: '64Gi' } },
  ],
  ['an agent that is to answer', { readiness: Readiness.parse({ guestAgent: true }) }],
  [
    'an agent on other networks',
    { readiness: Readiness.parse({ guestAgent: true }), interfaces: [{ network: 'lab' }] },
  ],
  ['a port', { readiness: Readiness.parse({ tcp: 3389, onFailure: 'Restart' }) }],
];

describe('a machine that asks for hardware', () => {
  test.each(specs)('%s is one that KubeVirt admits', async (_, spec) => {
    await admitMachine(
      {
        operation: 'CREATE',
        resource: { group: 'kubevirt.io', version: 'v1', resource: 'virtualmachines' },
        object: madeOf(spec) as unknown as Record<string, unknown>,
        oldObject: undefined,
        user: 'provision-vm',
      },
      async (field) => (field === 'preference' ? windows11 : medium),
    );
  });
  test('has virtio disks and cores, and nothing else, if it asks for none', () => {
    const { domain } = madeOf({}).spec.template.spec;
    expect(Object.keys(domain).sort()).toEqual(['cpu', 'devices', 'memory']);
    expect(domain.cpu).toEqual({ cores: 2 });
    expect(domain.devices.disks.map(({ disk }) => disk)).toEqual([{ bus: 'virtio' }, { bus: 'virtio' }]);
    expect(madeOf({}).metadata.annotations).not.toHaveProperty(['pelotech.ot/wanted-fields']);
  });
  test('leaves to a preference what its spec leaves open, and counts sockets for it', () => {
    const { spec } = madeOf({ preference: 'windows.11', resources: large });
    expect(spec.preference).toEqual({ kind: 'VirtualMachineClusterPreference', name: 'windows.11' });
    expect(spec.template.spec.domain).toMatchObject({ cpu: { sockets: 2, cores: 1 }, memory: { guest: '4Gi' } });
    expect(spec.template.spec.domain.devices.disks.map(({ disk }) => disk)).toEqual([{}, {}]);
    expect(spec.template.spec.domain).not.toHaveProperty('firmware');
    const own = madeOf({ preference: 'windows.11', resources: large, diskBus: 'scsi', tpm: false });
    expect(own.spec.template.spec.domain.devices.disks.map(({ disk }) => disk)).toEqual([
      { bus: 'scsi' },
      { bus: 'scsi' },
    ]);
    expect(own.spec.template.spec.domain.devices.tpm).toEqual({ enabled: false });
  });
  test('has no size of its own beside an instancetype', () => {
    const { spec } = madeOf({ instancetype: 'u1.medium', resources: undefined });
    expect(spec.instancetype).toEqual({ kind: 'VirtualMachineClusterInstancetype', name: 'u1.medium' });
    expect(Object.keys(spec.template.spec.domain)).toEqual(['devices']);
  });
  test('asks for SMM with Secure Boot only', () => {
    const domainOf = (secureBoot: boolean) =>
      madeOf({ firmware: { bootloader: 'efi', secureBoot } }).spec.template.spec.domain;
    expect(domainOf(true)).toMatchObject({
      firmware: { bootloader: { efi: { secureBoot: true } } },
      features: { smm: { enabled: true } },
    });
    expect(domainOf(false)).toMatchObject({ firmware: { bootloader: { efi: { secureBoot: false } } } });
    expect(domainOf(false)).not.toHaveProperty('features');
  });
});

// A folder with the CustomResourceDefinitions of other operators, as their releases have them.
const definition = join(process.env.OT_UPSTREAM_CRDS ?? '', 'virtualmachines.kubevirt.io.yaml');

describe.skipIf(!existsSync(definition))(
  "KubeVirt's own definition (set OT_UPSTREAM_CRDS to a folder that has it)",
  () => {
    const { spec: crd } = parse(
      existsSync(definition) ? readFileSync(definition, 'utf8') : 'spec: { versions: [] }',
    ) as {
      spec: { versions: { name: string; schema: { openAPIV3Schema: unknown } }[] };
    };
    test.each(specs)(
      'knows every field of a machine with %s, and takes it',
      (_, spec) => {
        const { prune, validate } = compileSchema(
          crd.versions.find(({ name }) => name === 'v1')?.schema.openAPIV3Schema,
        );
        const made = JSON.parse(JSON.stringify(madeOf(spec)));
        expect(prune(made)).toEqual([]);
        expect(validate(made)).toEqual([]);
      },
      60_000,
    );
  },
);

describe('a machine that asks for other hardware than it was made with', () => {
  const made = (spec: Spec) => aMadeMachine({ spec }, { policy, machine: { printableStatus: 'Running', ready: true } });
  /** What KubeVirt adds to a machine. */
  const added = { firmware: { uuid: 'u', serial: 's' }, machine: { type: 'q35' } };
  const withAdded = (given: ReturnType<typeof made>, domain: object = added) => {
    const found = structuredClone(given.kubeVirtMachine) as unknown as Made;
    const before = found.spec.template.spec.domain;
    const merged = { ...before, ...domain, firmware: { ...before.firmware, ...added.firmware } };
    Object.assign(found.spec.template.spec, { domain: merged });
    return { ...given, kubeVirtMachine: KubeVirtMachine.parse(found) };
  };
  test('loses what it no longer asks for, and keeps what KubeVirt added', () => {
    const spec: Spec = {
      ...{ firmware: { bootloader: 'efi', secureBoot: true }, tpm: true, preference: 'windows.11' },
      readiness: Readiness.parse({ guestAgent: true, onFailure: 'Restart' }),
    };
    const given = withAdded(made(spec));
    const none = { firmware: undefined, tpm: undefined, preference: undefined, readiness: undefined };
    const { metadata, spec: next } = changedTo(changed(given, none));
    expect(next.template.spec.domain).toMatchObject({ firmware: added.firmware, machine: added.machine });
    expect(next.template.spec.domain.firmware).not.toHaveProperty('bootloader');
    expect(next.template.spec.domain.cpu).toEqual({ cores: 2 });
    expect(next.template.spec.domain).not.toHaveProperty('features.smm');
    expect(next.template.spec.domain.devices).not.toHaveProperty('tpm');
    expect(next.template.spec).not.toHaveProperty('readinessProbe');
    expect(next.template.spec).not.toHaveProperty('livenessProbe');
    expect(next.preference).toBeUndefined();
    expect(metadata.annotations).not.toHaveProperty(['pelotech.ot/wanted-fields']);
  });
  test('keeps what a person added', () => {
    const given = withAdded(made({}), { features: { smm: { enabled: true } }, firmware: { bootloader: { efi: {} } } });
    const person = structuredClone(given.kubeVirtMachine) as unknown as Made;
    person.spec.preference = { name: 'theirs' };
    Object.assign(person.spec.template.spec.domain, { firmware: { bootloader: { efi: {} } } });
    const next = changedTo(changed({ ...given, kubeVirtMachine: KubeVirtMachine.parse(person) }, { resources: large }));
    expect(next.spec.template.spec.domain).toMatchObject({
      firmware: { bootloader: { efi: {} } },
      features: { smm: {} },
    });
    expect(next.spec.preference).toEqual({ name: 'theirs' });
  });
  test('boots the other way', () => {
    const next = changedTo(
      changed(withAdded(made({ firmware: { bootloader: 'efi' } })), { firmware: { bootloader: 'bios' } }),
    );
    expect(next.spec.template.spec.domain.firmware).toEqual({ ...added.firmware, bootloader: { bios: {} } });
  });
  test('gets a size from an instancetype, and back', () => {
    const sized = made({ resources: { cpu: '500m', memory: '2Gi' } });
    const typed = changedTo(changed(sized, { instancetype: 'u1.medium', resources: undefined }));
    expect(Object.keys(typed.spec.template.spec.domain)).toEqual(['devices']);
    expect(typed.metadata.annotations?.['pelotech.ot/wanted-fields']).toBe('instancetype');
    const back = changedTo(
      changed(made({ instancetype: 'u1.medium', resources: undefined }), { instancetype: undefined, resources: large }),
    );
    expect(back.spec.template.spec.domain).toMatchObject({ cpu: { cores: 2 }, memory: { guest: '4Gi' } });
    expect(back.spec.instancetype).toBeUndefined();
  });
  test('drops the copy that KubeVirt noted with another name only', () => {
    const given = made({ preference: 'windows.11', resources: large });
    const noted = structuredClone(given.kubeVirtMachine) as unknown as Made;
    noted.spec.preference = { ...noted.spec.preference, revisionName: 'copy-1' };
    const kubeVirtMachine = KubeVirtMachine.parse(noted);
    const same = changedTo(changed({ ...given, kubeVirtMachine }, { resources: { cpu: '4', memory: '8Gi' } }));
    expect(same.spec.preference).toMatchObject({ name: 'windows.11', revisionName: 'copy-1' });
    const other = changedTo(changed({ ...given, kubeVirtMachine }, { preference: 'windows.2k22' }));
    expect(other.spec.preference).toEqual({ kind: 'VirtualMachineClusterPreference', name: 'windows.2k22' });
  });
});

describe('a machine that names what does not exist', () => {
  const preferring = aVirtualMachine({ spec: { preference: 'windows.11' } });
  const typed = aVirtualMachine({ spec: { instancetype: 'u1.medium', resources: undefined } });
  test.each<[string, VirtualMachine, 'preference' | 'instancetype', string]>([
    [
      'PreferenceMissing',
      preferring,
      'preference',
      'VirtualMachineClusterPreference windows.11 does not exist. Create it, or name another in preference (kubectl get virtualmachineclusterpreferences).',
    ],
    [
      'InstancetypeMissing',
      typed,
      'instancetype',
      'VirtualMachineClusterInstancetype u1.medium does not exist. Create it, or name another in instancetype (kubectl get virtualmachineclusterinstancetypes).',
    ],
  ])(
    'says %s on one line, makes nothing, looks again, and is Failed if that lasts',
    (reason, machine, field, message) => {
      const given: Given = { policy, machine, missing: [field] };
      const found = reconcile(given);
      expect(found.writes).toEqual(['patchStatus VirtualMachine']);
      expect(found.conditions.Ready).toBe(`False ${reason}`);
      expect(found.status?.message).toBe(`${message} Failed if that lasts 5m; it may recover by itself.`);
      expect(found.actions).toContainEqual(expect.objectContaining({ do: 'requeueAfter', afterMs: 10_000 }));
      const waiting = written(machine, found.status);
      expect(reconcile({ ...given, machine: waiting, nowMs: start + 310_000 }).status?.phase).toBe('Failed');
      expect(reconcile({ ...given, machine: waiting, missing: [] }).writes[0]).toBe('create DataVolume');
    },
  );
  test('but runs with it already keeps it, and applies no other change that names another', () => {
    const made = aMadeMachine(
      { spec: { preference: 'windows.11' } },
      { machine: { printableStatus: 'Running', ready: true } },
    );
    expect(reconcile({ ...changed(made, { resources: large }), missing: [] }).conditions.Ready).toBe('True Running');
    const other = reconcile({ ...changed(made, { preference: 'gone' }), missing: ['preference'] });
    expect(other.writes).toEqual(['patchStatus VirtualMachine']);
    expect(other.conditions).toMatchObject({ Ready: 'True Running', RestartRequired: 'True PreferenceMissing' });
  });
});

describe('an instancetype, which may bring devices and nodes', () => {
  const machine = aVirtualMachine({ spec: { instancetype: 'gpu.large', resources: undefined } });
  test.each<[string, { machineInstancetypes?: string }]>([
    ['none', {}],
    ['others', { machineInstancetypes: 'u1.*' }],
  ])('is not used if the policy names %s, whether it exists or not', (_, policy) => {
    const found = reconcile({ policy, machine, missing: ['instancetype'] });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False InstancetypeNotAllowed');
    expect(found.status?.message).toContain(
      `set "machineInstancetypes: ${policy.machineInstancetypes ? 'u1.* ' : ''}gpu.large"`,
    );
    expect(found.status?.phase).toBe('Failed');
  });
  test('is used if the policy names it', () => {
    expect(reconcile({ policy: { machineInstancetypes: 'u1.* gpu.large' }, machine }).conditions.Ready).toBe(
      'False Starting',
    );
  });
  test('waits for a policy that parses', () => {
    expect(reconcile({ policy: { machineInstancetypes: 'https://u1' }, machine }).conditions.Ready).toBe(
      'False InvalidPolicy',
    );
  });
  test('stays with a machine that has it when the policy no longer names it', () => {
    const made = aMadeMachine(
      { spec: machine.spec },
      { policy: { machineInstancetypes: '*' }, machine: { printableStatus: 'Running', ready: true } },
    );
    const found = reconcile({ ...changed(made, { tpm: true }), policy: {} });
    expect(found.conditions).toMatchObject({ Ready: 'True Running' });
    expect(found.writes).toContain('replace VirtualMachine');
  });
});
