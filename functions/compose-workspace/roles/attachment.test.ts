import { expect, test } from 'vitest';
import { aPolicy, aVm, aWorkspace } from '../../../test/support/builders/roles.ts';
import { attachment, runnerAddresses } from './attachment.ts';

const workspace = aWorkspace();

test('kube-ovn gives the runner its address by its own annotation', () => {
  expect(attachment(workspace, aPolicy(), '10.10.0.128')).toEqual({
    'k8s.v1.cni.cncf.io/networks': '[{"name":"control-net","namespace":"ws-demo-workspace-1"}]',
    'control-net.ws-demo-workspace-1.ovn.kubernetes.io/ip_address': '10.10.0.128',
  });
});
test('on a bridge the runner asks for its address', () => {
  expect(attachment(workspace, aPolicy({ networkProvider: 'bridge' }), '10.10.0.127')).toEqual({
    'k8s.v1.cni.cncf.io/networks':
      '[{"name":"control-net-ip","namespace":"ws-demo-workspace-1","ips":["10.10.0.127/24"]}]',
  });
});
test('a site may call the network otherwise', () => {
  const policy = aPolicy({ ansibleControlNetwork: 'mgmt' });
  expect(
    attachment({ ...workspace, spec: { networks: [{ name: 'mgmt', cidr: '10.0.0.0/24' }] } }, policy, '10.0.0.128'),
  ).toEqual({
    'k8s.v1.cni.cncf.io/networks': '[{"name":"mgmt","namespace":"ws-demo-workspace-1"}]',
    'mgmt.ws-demo-workspace-1.ovn.kubernetes.io/ip_address': '10.0.0.128',
  });
});
test('without the network there is nothing to be on', () => {
  expect(attachment({ ...workspace, spec: {} }, aPolicy(), undefined)).toEqual({});
});

const members = (...addresses: string[]) =>
  aWorkspace([aVm({ interfaces: addresses.map((ipAddress) => ({ network: 'n', ipAddress })) })]);

test.each([
  ['is in the middle', members(), '10.0.0.0/29', 0, '10.0.0.4'],
  ["is no member's", members('10.0.0.4/29', '10.0.0.3/29'), '10.0.0.0/29', 0, '10.0.0.2'],
  ['is the next for the next Job', members('10.0.0.3/29'), '10.0.0.0/29', 1, '10.0.0.2'],
  ['is above the middle where that is full', members('10.0.0.2/30'), '10.0.0.0/29', 3, '10.0.0.5'],
  ['is not the last one, which is for a gateway', members('10.0.0.1/30'), '10.0.0.0/30', 0, undefined],
  ['is not there in a network of two', members(), '10.0.0.0/31', 0, undefined],
  ['may be one of IPv6', members(), 'fd00::/64', 0, 'fd00::8000:0:0:0'],
])('the address of a runner %s', (_, { spec }, cidr, index, expected) => {
  expect(runnerAddresses(spec, cidr, index + 1)[index]).toBe(expected);
});
test('nor is it that of a gateway, a name server or the next hop of a route', () => {
  const networks = [
    {
      name: 'n',
      cidr: '10.0.0.0/29',
      rangeGateway: '10.0.0.4',
      routes: [{ destinationNetworkCidr: '0.0.0.0/0', nextHopIpAddress: '10.0.0.3' }],
      nameservers: { addresses: ['10.0.0.2'] },
    },
  ];
  expect(runnerAddresses({ networks }, '10.0.0.0/29', 1)).toEqual(['10.0.0.1']);
});
test('networks that another provider made stay with it', () => {
  const found = attachment({ ...workspace, status: { networkProvider: 'bridge' } }, aPolicy(), '10.10.0.128');
  expect(Object.keys(found)).toEqual(['k8s.v1.cni.cncf.io/networks']);
});
