import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { WorkspaceSpec } from '../../shared/kinds/pelotech/workspace.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { aClusterOf, aMachineOf } from '../../test/support/builders/workspaces.ts';
import { faultsOf } from './faults.ts';

const net = { name: 'net', cidr: '10.0.0.0/24' };
const on = (...interfaces: { network: string; ipAddress?: string }[]): WorkspaceSpec => ({
  vms: [aMachineOf({ interfaces })],
  networks: [net],
});
const networked = (more: object): WorkspaceSpec => ({ networks: [{ ...net, ...more }] });
const clustered = (more: object): WorkspaceSpec => ({
  containerClusters: [aClusterOf({ containers: [{ name: 'app', image: 'a', ...more }] })],
});
const template = aVMDiskImage().spec;

test("the seed's own example has none", async () => {
  const text = await readFile(new URL('../../crds/examples/workspace.yaml', import.meta.url), 'utf8');
  expect(faultsOf(Workspace.parse(parse(text)).spec, 'kube-ovn')).toEqual([]);
  expect(faultsOf(Workspace.parse(parse(text)).spec, 'bridge')).toEqual([]);
});

test.each<[string, WorkspaceSpec, string]>([
  [
    'an address outside of its network',
    on({ network: 'net', ipAddress: '10.0.1.5/24' }),
    'expected an address in 10.0.0.0/24 (net), found 10.0.1.5/24',
  ],
  ['another length', on({ network: 'net', ipAddress: '10.0.0.5/25' }), 'expected the length /24 of net'],
  [
    'no address',
    on({ network: 'net', ipAddress: 'here' }),
    'expected an address such as 10.10.0.161/24 on net, found here',
  ],
  ['the broadcast address', on({ network: 'net', ipAddress: '10.0.0.255/24' }), 'broadcast'],
  ['an unknown network', on({ network: 'other' }), 'expected a network of this workspace (net), found other'],
  ['a network twice', on({ network: 'net' }, { network: 'net' }), 'found net twice'],
  ['IPv6', on({ network: 'net', ipAddress: 'fd00::5/64' }), 'IPv6 is not supported in workspaces yet'],
  ['a network of IPv6', networked({ cidr: 'fd00::/64' }), 'IPv6 is not supported in workspaces yet'],
  ['no network', networked({ cidr: '10.0.0.0' }), 'expected a network such as 10.10.0.0/24 in cidr, found 10.0.0.0'],
  ['an address in place of a network', networked({ cidr: '10.0.0.5/24' }), 'found an address in it'],
  ['a network without room for members', networked({ cidr: '10.0.0.0/31' }), 'room for two members'],
  [
    'a gateway outside',
    networked({ rangeGateway: '10.0.9.1' }),
    'rangeGateway: expected an address in the network, found 10.0.9.1',
  ],
  [
    'a gateway in use',
    {
      vms: [aMachineOf({ interfaces: [{ network: 'net', ipAddress: '10.0.0.1/24' }] })],
      networks: [{ ...net, rangeGateway: '10.0.0.1' }],
    },
    'found 10.0.0.1/24, which is its rangeGateway',
  ],
  [
    'a route by way of no address',
    networked({ routes: [{ destinationNetworkCidr: '0.0.0.0/0', nextHopIpAddress: '10.9.0.1' }] }),
    'nextHopIpAddress: expected an address in the network, found 10.9.0.1',
  ],
  [
    'an address twice',
    {
      ...on({ network: 'net', ipAddress: '10.0.0.5/24' }),
      containerClusters: [aClusterOf({ interfaces: [{ network: 'net', ipAddress: '10.0.0.5/24' }] })],
    },
    'found 10.0.0.5 at vms vm and containerClusters app',
  ],
  [
    'networks that overlap',
    { networks: [net, { name: 'more', cidr: '10.0.0.128/25' }] },
    'found net 10.0.0.0/24 and more 10.0.0.128/25',
  ],
  [
    'no room for a gateway',
    {
      ...on({ network: 'net', ipAddress: '10.0.0.1/30' }),
      networks: [{ ...net, cidr: '10.0.0.0/30', nameservers: { addresses: ['10.0.0.2'] } }],
    },
    "left for kube-ovn's gateway",
  ],
  [
    'a name twice',
    { networks: [net, { ...net, cidr: '10.0.1.0/24' }] },
    'networks: expected each name once, found net twice',
  ],
  [
    'a name of a machine',
    { vms: [aMachineOf()], containerClusters: [aClusterOf({ name: 'vm' })] },
    'expected a name that no machine has, found vm',
  ],
  [
    'a name that is no label',
    { volumes: [{ name: 'Data_1', size: '1Gi' }] },
    'volumes: expected a name of at most 63 lower case letters',
  ],
  [
    'a name beside its definition for containers',
    { networks: [net, { name: 'net-ip', cidr: '10.0.1.0/24' }] },
    'expected no network net-ip beside net',
  ],
  [
    'a volume in place of a disk',
    { vms: [aMachineOf()], volumes: [{ name: 'vm-root', size: '1Gi' }] },
    'found vm-root',
  ],
  [
    'an unknown volume',
    clustered({ volumeMounts: [{ name: 'data', containerPath: '/a' }] }),
    'expected a volume of this workspace, which has none, found data',
  ],
  [
    'a port twice',
    clustered({ portMappings: [{ containerPort: 53 }, { containerPort: 53, protocol: 'TCP' }] }),
    'found 53/tcp twice',
  ],
  ['a path that leads out', { volumes: [{ name: 'data', size: '1Gi', localPath: '/a/../b' }] }, 'without ".."'],
  [
    'two templates of one image',
    {
      vms: [
        aMachineOf({ vmDiskImageTemplate: template }),
        aMachineOf({ name: 'two', vmDiskImageTemplate: { ...template, diskSize: '9Gi' } }),
      ],
    },
    'expected one vmDiskImageTemplate for image ubuntu, found vm and two',
  ],
])('%s is reported', (_, spec, said) => {
  expect(faultsOf(spec, 'kube-ovn').join('\n')).toContain(said);
});

test('of a bridge a container cluster has to bring its address', () => {
  const spec = { containerClusters: [aClusterOf({ interfaces: [{ network: 'net' }] })], networks: [net] };
  expect(faultsOf(spec, 'kube-ovn')).toEqual([]);
  expect(faultsOf(spec, 'bridge').join()).toContain('expected an ipAddress on net');
});
