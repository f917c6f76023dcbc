import { expect, test } from 'vitest';
import { aPolicy, aVm, aWorkspace } from '../../../test/support/builders/roles.ts';
import { unreached } from './reach.ts';

test('a machine with an address on the control network is reached', () => {
  const vm = aVm();
  expect(unreached(aWorkspace([vm]), aPolicy(), vm, new Map([[vm.name, '10.10.0.128']]))).toBeUndefined();
});

test.each([
  ['is not on the control network', [], 'control-net'],
  ['has no fixed address there', [{ network: 'control-net' }], 'control-net'],
  ['is on another than the policy names', [{ network: 'control-net', ipAddress: '10.10.0.161/24' }], 'mgmt'],
])('a machine that %s is not', (_, interfaces, ansibleControlNetwork) => {
  const vm = aVm({ interfaces });
  expect(unreached(aWorkspace([vm]), aPolicy({ ansibleControlNetwork }), vm, new Map())).toEqual({
    reason: 'NoControlAddress',
    message: `Expected an ipAddress on network ${ansibleControlNetwork}, where its deploy roles come from, found none.`,
  });
});

test('a machine on a network without an address for the runner is not', () => {
  const vm = aVm({ interfaces: [{ network: 'control-net', ipAddress: '10.0.0.1/30' }] });
  const workspace = aWorkspace([vm]);
  workspace.spec.networks = [{ name: 'control-net', cidr: '10.0.0.0/30' }];
  expect(unreached(workspace, aPolicy(), vm, new Map())).toEqual({
    reason: 'NoFreeAddress',
    message: expect.stringContaining('Expected 2 free addresses on network control-net'),
  });
});
