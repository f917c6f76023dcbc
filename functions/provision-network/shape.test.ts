import { describe, expect, test } from 'vitest';
import type { VirtualNetwork } from '../../shared/kinds/kupenstack/virtual-network.ts';
import type { Subnet } from '../../shared/kinds/openstack/network.ts';
import { aSubnet, aVirtualNetwork } from '../../test/support/builders/openstack.ts';
import { shapeChanges, shapeOf } from './shape.ts';

type Spec = Partial<VirtualNetwork['spec']>;
const specOf = (spec: Spec) => aVirtualNetwork({ spec }).spec;

describe('what a spec says of a subnet', () => {
  test.each<[string, Spec, string, object]>([
    ['nothing but that there is DHCP', {}, '10.1.2.0/24', { enable_dhcp: true }],
    ['that DHCP is off', { disableDhcp: true }, '10.1.2.0/24', { enable_dhcp: false }],
    ['its gateway', { gatewayIP: '10.1.2.9' }, '10.1.2.0/24', { gateway_ip: '10.1.2.9' }],
    ['no pools where the list is empty', { allocationPools: [] }, '10.1.2.0/24', { enable_dhcp: true }],
    [
      'a pool from there to the last address',
      { allocationPools: [{ startIP: '10.1.2.100' }] },
      '10.1.2.0/24',
      { allocation_pools: [{ start: '10.1.2.100', end: '10.1.2.254' }] },
    ],
    [
      'a pool from the first address behind the gateway, which is the first, to there',
      { allocationPools: [{ endIP: '10.1.2.99' }] },
      '10.1.2.0/24',
      { allocation_pools: [{ start: '10.1.2.2', end: '10.1.2.99' }] },
    ],
    [
      'a pool from the first address where the gateway is another',
      { gatewayIP: '10.1.2.9', allocationPools: [{ endIP: '10.1.2.8' }] },
      '10.1.2.0/24',
      { allocation_pools: [{ start: '10.1.2.1', end: '10.1.2.8' }] },
    ],
    [
      'a pool to the last address before the gateway, where that is the last',
      { gatewayIP: '10.1.2.254', allocationPools: [{}] },
      '10.1.2.0/24',
      { allocation_pools: [{ start: '10.1.2.1', end: '10.1.2.253' }] },
    ],
    [
      'a pool of all',
      { allocationPools: [{}] },
      '10.1.0.0/16',
      { allocation_pools: [{ start: '10.1.0.2', end: '10.1.255.254' }] },
    ],
    [
      'the ends of a network that is written by an address in it',
      { allocationPools: [{}] },
      '10.1.2.77/24',
      { allocation_pools: [{ start: '10.1.2.2', end: '10.1.2.254' }] },
    ],
    [
      'pools in the order of the spec',
      { allocationPools: [{ startIP: '10.1.2.9', endIP: '10.1.2.10' }, { endIP: '10.1.2.5' }] },
      '10.1.2.0/24',
      {
        allocation_pools: [
          { start: '10.1.2.9', end: '10.1.2.10' },
          { start: '10.1.2.2', end: '10.1.2.5' },
        ],
      },
    ],
  ])('is %s', (_, spec, cidr, shape) => {
    expect(shapeOf(specOf(spec), cidr)).toMatchObject(shape);
  });
  test('is no gateway and no pools where it names none', () => {
    expect(Object.keys(shapeOf(specOf({}), '10.1.2.0/24'))).toEqual(['enable_dhcp']);
  });
});

describe('what differs from a subnet', () => {
  const pools = [
    { start: '10.1.2.100', end: '10.1.2.120' },
    { start: '10.1.2.10', end: '10.1.2.20' },
  ];
  const asked = pools.map(({ start, end }) => ({ startIP: start, endIP: end }));
  test.each<[string, Spec, Partial<Subnet>, object | undefined]>([
    ['is nothing where the spec says nothing', {}, {}, undefined],
    ['is DHCP, on or off', { disableDhcp: true }, {}, { enable_dhcp: false }],
    ['is DHCP that a user switched off', {}, { enable_dhcp: false }, { enable_dhcp: true }],
    ['is another gateway', { gatewayIP: '10.1.2.9' }, {}, { gateway_ip: '10.1.2.9' }],
    ['is a gateway if none exists', { gatewayIP: '10.1.2.1' }, { gateway_ip: null }, { gateway_ip: '10.1.2.1' }],
    ['is no gateway that Neutron chose', {}, { gateway_ip: '10.1.2.254' }, undefined],
    ['is another pool', { allocationPools: asked }, {}, { allocation_pools: pools }],
    [
      'is no pool in another order',
      { allocationPools: asked },
      { allocation_pools: [...pools].reverse().map(({ start, end }) => ({ end, start })) },
      undefined,
    ],
    ['is no pool that Neutron chose', {}, { allocation_pools: pools }, undefined],
  ])('%s', (_, spec, subnet, changes) => {
    expect(shapeChanges(specOf(spec), aSubnet(aVirtualNetwork(), subnet))).toEqual(changes);
  });

  const six = aSubnet(aVirtualNetwork(), {
    cidr: 'fd00:1::/64',
    gateway_ip: 'fd00:1::9',
    allocation_pools: [{ start: 'fd00:1::1', end: 'fd00:1::ffff:ffff:ffff:ffff' }],
  });
  test('is nothing of a network of version 6 that is written as Neutron writes it', () => {
    expect(shapeChanges(specOf({ cidr: 'fd00:1::/64', gatewayIP: 'fd00:1::9' }), six)).toBeUndefined();
  });
  test('is no gateway that is the same address written otherwise', () => {
    expect(shapeChanges(specOf({ cidr: 'fd00:1::/64', gatewayIP: 'FD00:1:0::9' }), six)).toBeUndefined();
  });
  test('is no pool whose missing ends are what Neutron has', () => {
    const spec = specOf({ cidr: 'fd00:1::/64', gatewayIP: 'fd00:1::9', allocationPools: [{}] });
    expect(shapeChanges(spec, six)).toBeUndefined();
  });
});
