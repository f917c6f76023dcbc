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

  test('ten causes at most', () => {
    const volumes = Array.from({ length: 12 }, (_, index) => ({ name: `v${index}`, emptyDisk: {} }));
    const devices = { interfaces: [{ name: 'lan' }] };
    expect(() => admitMachine(aRequest({ volumes, devices }))).toThrow(', and 2 more validation errors');
  });
});

test('KubeVirt accepts a machine that fits together, its status, and whatever is being deleted', () => {
  admitMachine(aRequest({}));
  admitMachine(aRequest(cloudInit({ userData: 'x'.repeat(2048) })));
  const wrong = aRequest({ spec: {} });
  admitMachine({ ...wrong, subresource: 'status' });
  admitMachine({ ...wrong, resource: { ...resource, resource: 'virtualmachineinstances' } });
  const { metadata, ...rest } = wrong.object;
  admitMachine({ ...wrong, object: { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } });
});
