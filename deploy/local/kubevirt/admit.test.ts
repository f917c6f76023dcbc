import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../cdi/admit.ts';
import { admitMachine } from './admit.ts';

const resource = { group: 'kubevirt.io', version: 'v1', resource: 'virtualmachines' };

interface Parts {
  spec?: object;
  devices?: object;
  networks?: object[];
  volumes?: object[];
}

const disk = { name: 'root', disk: { bus: 'virtio' } };
const root = { name: 'root', dataVolume: { name: 'pc-root' } };
const lan = { name: 'lan', multus: { networkName: 'lab' } };
const cloudInit = (cloudInitNoCloud: object) => ({
  devices: { disks: [{ name: 'ci' }], interfaces: [{ name: 'lan' }] },
  volumes: [{ name: 'ci', cloudInitNoCloud }],
});

const aRequest = ({ spec = { runStrategy: 'Always' }, devices, networks = [lan], volumes = [root] }: Parts) =>
  ({
    operation: 'CREATE',
    resource,
    subresource: '',
    object: {
      metadata: { name: 'pc' },
      spec: {
        ...spec,
        template: {
          spec: { domain: { devices: devices ?? { disks: [disk], interfaces: [{ name: 'lan' }] } }, networks, volumes },
        },
      },
    },
    oldObject: undefined,
    user: 'admin',
  }) satisfies AdmissionRequest;

const template = { metadata: { name: 'other' }, spec: { storage: {} } };

describe('KubeVirt refuses with 422 and its own words', () => {
  test.each<[string, Parts, string]>([
    ['no strategy', { spec: {} }, 'RunStrategy must be specified'],
    [
      'two strategies',
      { spec: { running: true, runStrategy: 'Always' } },
      'Running and RunStrategy are mutually exclusive',
    ],
    ['an unknown strategy', { spec: { runStrategy: 'Often' } }, 'Invalid RunStrategy (Often)'],
    ['a disk without volume', { volumes: [] }, "spec.template.spec.domain.devices.disks[0].Name 'root' not found."],
    [
      'a volume without disk',
      { devices: { interfaces: [{ name: 'lan' }] } },
      "spec.template.spec.domain.volumes[0].name 'root' not found.",
    ],
    [
      'a network without interface',
      { devices: { disks: [disk] } },
      "spec.template.spec.networks[0].name 'lan' not found.",
    ],
    [
      'an interface without network',
      { networks: [] },
      "spec.template.spec.domain.devices.interfaces[0].name 'lan' not found.",
    ],
    ['two networks of one name', { networks: [lan, lan] }, 'Network with name "lan" already exists'],
    ['a network of no type', { networks: [{ name: 'lan' }] }, 'should have a network type'],
    ['a network of two types', { networks: [{ ...lan, pod: {} }] }, 'should have only one network type'],
    [
      'a volume of two sources',
      { volumes: [{ ...root, emptyDisk: {} }] },
      'spec.template.spec.volumes[0] must have exactly one source type set',
    ],
    [
      'a template that no volume names',
      { spec: { runStrategy: 'Always', dataVolumeTemplates: [template] } },
      "DataVolumeTemplate entry spec.dataVolumeTemplate[0] must be referenced in the VMI template's 'volumes' list",
    ],
    [
      'cloud-init that says nothing',
      cloudInit({}),
      'must have at least one userdatasource or one networkdatasource set.',
    ],
    [
      'user data of two places',
      cloudInit({ userData: '#', secretRef: { name: 'a' } }),
      'must have only one userdatasource set.',
    ],
    [
      'too much user data',
      cloudInit({ userData: 'x'.repeat(2049) }),
      'spec.template.spec.volumes[0].cloudInitNoCloud userdata exceeds 2048 byte limit. Should use UserDataSecretRef',
    ],
    [
      'too much network data',
      cloudInit({ userData: '#', networkDataBase64: Buffer.alloc(2049).toString('base64') }),
      'networkdata exceeds 2048 byte limit. Should use NetworkDataSecretRef for larger data.',
    ],
  ])('%s', async (_, parts, message) => {
    const refused = async () => admitMachine(aRequest(parts));
    await expect(refused()).rejects.toMatchObject({
      status: 422,
      reason: 'Invalid',
      message: expect.stringContaining(message),
    });
  });

  test('ten causes at most', async () => {
    const volumes = Array.from({ length: 12 }, (_, index) => ({ name: `v${index}`, emptyDisk: {} }));
    const devices = { interfaces: [{ name: 'lan' }] };
    await expect(admitMachine(aRequest({ volumes, devices }))).rejects.toThrow(', and 2 more validation errors');
  });
});

const pods = { networks: [{ name: 'lan', pod: {} }] };
const at = 'spec.template.spec';

/** The words are those of kubevirt's source, which admit-domain.ts and admit-hardware.ts name. */
describe('KubeVirt refuses probes, buses, firmware and sizes that cannot be', () => {
  const efi = (more: object = {}) => ({ bootloader: { efi: more } });
  const windows = {
    devices: { preferredDiskBus: 'sata' },
    firmware: { preferredEfi: { persistent: true, secureBoot: true } },
    features: { preferredSmm: {} },
    requirements: { cpu: { guest: 2 }, memory: { guest: '4Gi' } },
  };
  const found = async (_: string, name: string) =>
    ({
      windows: { spec: windows },
      unsafe: { spec: { firmware: windows.firmware } },
      cores: { spec: { cpu: { preferredCPUTopology: 'preferCores' }, requirements: { cpu: { guest: 2 } } } },
      small: { spec: { cpu: { guest: 1 }, memory: { guest: '1Gi' } } },
      large: { spec: { cpu: { guest: 4 }, memory: { guest: '8Gi' } } },
    })[name];
  const asked = ({ spec = {}, domain = {}, template = {} }: { spec?: object; domain?: object; template?: object }) => {
    const request = aRequest({ spec: { runStrategy: 'Always', ...spec } });
    const { template: made } = request.object.spec;
    const whole = { ...made.spec, ...template, domain: { ...made.spec.domain, ...domain } };
    return { ...request, object: { ...request.object, spec: { ...request.object.spec, template: { spec: whole } } } };
  };
  const of = (preference?: string, instancetype?: string) => ({
    ...(preference ? { preference: { name: preference } } : {}),
    ...(instancetype ? { instancetype: { name: instancetype } } : {}),
  });
  type Asked = Parameters<typeof asked>[0];
  test.each<[string, Asked, string]>([
    [
      'two probes in one',
      { template: { readinessProbe: { guestAgentPing: {}, tcpSocket: { port: 22 } }, ...pods } },
      `${at}.readinessProbe must have exactly one probe type set`,
    ],
    [
      'a probe that asks nothing',
      { template: { livenessProbe: { periodSeconds: 1 } } },
      `either ${at}.livenessProbe.tcpSocket, ${at}.livenessProbe.exec or ${at}.livenessProbe.httpGet must be set`,
    ],
    [
      'a port without the network of Pods',
      { template: { readinessProbe: { tcpSocket: { port: 22 } } } },
      `${at}.readinessProbe.tcpSocket is only allowed if the Pod Network is attached`,
    ],
    [
      'Secure Boot without SMM',
      { domain: { firmware: efi() } },
      `${at}.domain has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.`,
    ],
    [
      'a preference for Secure Boot without one for SMM',
      { spec: of('unsafe') },
      'SecureBoot requires SMM, which is currently disabled.',
    ],
    [
      'BIOS and EFI',
      { domain: { firmware: { bootloader: { bios: {}, efi: { secureBoot: false } } } } },
      `${at}.domain.firmware.bootloader has both EFI and BIOS configured, but they are mutually exclusive.`,
    ],
    ...(['ide', 'nvme'] as const).map((bus): [string, Asked, string] => [
      `bus ${bus}`,
      { domain: { devices: { disks: [{ name: 'root', disk: { bus } }], interfaces: [{ name: 'lan' }] } } },
      bus === 'ide' ? 'IDE bus is not supported' : 'unrecognized bus nvme, must be one of: [virtio scsi sata usb]',
    ]),
    [
      'cores beside an instancetype',
      { spec: of(undefined, 'large'), domain: { cpu: { cores: 2 } } },
      `VM field(s) ${at}.domain.cpu.cores conflicts with selected instance type`,
    ],
    [
      'memory beside an instancetype',
      { spec: of(undefined, 'large'), domain: { memory: { guest: '2Gi' } } },
      `VM field(s) ${at}.domain.memory.guest conflicts with selected instance type`,
    ],
    [
      'cores for a preference that counts sockets',
      { spec: of('windows'), domain: { cpu: { cores: 2 }, memory: { guest: '4Gi' } } },
      'failure checking preference requirements: insufficient CPU resources of 1 vCPU provided by VirtualMachine, preference requires 2 vCPU provided as sockets',
    ],
    [
      'too little memory for a preference',
      { spec: of('windows'), domain: { cpu: { sockets: 2 }, memory: { guest: '2Gi' } } },
      'insufficient Memory resources of 2Gi provided by VirtualMachine, preference requires 4Gi',
    ],
    [
      'an instancetype that is too small for a preference',
      { spec: of('windows', 'small') },
      'insufficient CPU resources of 1 vCPU provided by instance type, preference requires 2 vCPU',
    ],
  ])('%s', async (_, parts, message) => {
    await expect(admitMachine(asked(parts), found)).rejects.toThrow(message);
  });
  test.each<[string, Asked]>([
    ['an agent without the network of Pods', { template: { readinessProbe: { guestAgentPing: {} } } }],
    ['a port on the network of Pods', { template: { readinessProbe: { tcpSocket: { port: 22 } }, ...pods } }],
    ['Secure Boot with SMM', { domain: { firmware: efi(), features: { smm: {} } } }],
    ['UEFI without Secure Boot', { domain: { firmware: efi({ secureBoot: false }) } }],
    ['sockets for a preference', { spec: of('windows'), domain: { cpu: { sockets: 2 }, memory: { guest: '4Gi' } } }],
    ['cores for one that counts them', { spec: of('cores'), domain: { cpu: { cores: 2 } } }],
    ['an instancetype that is large enough', { spec: of('windows', 'large') }],
    ['what it does not find', { spec: of('gone', 'gone'), domain: { cpu: { cores: 2 } } }],
  ])('and takes %s', async (_, parts) => {
    await admitMachine(asked(parts), found);
  });
});

test('KubeVirt accepts a machine that fits together, its status, and whatever is being deleted', async () => {
  await admitMachine(aRequest({}));
  await admitMachine(aRequest(cloudInit({ userData: 'x'.repeat(2048) })));
  const wrong = aRequest({ spec: {} });
  await admitMachine({ ...wrong, subresource: 'status' });
  await admitMachine({ ...wrong, resource: { ...resource, resource: 'virtualmachineinstances' } });
  const { metadata, ...rest } = wrong.object;
  const deleted = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  await admitMachine({ ...wrong, object: deleted });
});
