import { describe, expect, test } from 'vitest';
import { cidrIn } from '../../cidr.ts';
import { checkPools, defaultGateway, defaultPools, freeAddress } from './addresses.ts';
import type { Subnet } from './state.ts';

const rangeOf = (text: string) => {
  const range = cidrIn(text);
  if (!range) throw new Error(`expected a range, found ${text}`);
  return range;
};

test.each([
  ['10.9.0.0/24', '10.9.0.1', '10.9.0.2-10.9.0.254'],
  ['10.9.0.0/24', '10.9.0.10', '10.9.0.1-10.9.0.9 10.9.0.11-10.9.0.254'],
  ['10.9.0.0/24', '10.9.0.254', '10.9.0.1-10.9.0.253'],
  ['10.9.0.0/24', null, '10.9.0.1-10.9.0.254'],
  ['10.9.0.0/24', '10.8.0.1', '10.9.0.1-10.9.0.254'],
  ['10.9.0.0/30', '10.9.0.1', '10.9.0.2-10.9.0.2'],
  ['fd00::/64', 'fd00::', 'fd00::1-fd00::ffff:ffff:ffff:ffff'],
])('%s with gateway %s gives %s', (cidr, gateway, pools) => {
  const found = defaultPools(rangeOf(cidr), gateway);
  expect(found.map(({ start, end }) => `${start}-${end}`).join(' ')).toBe(pools);
});

test.each([
  ['10.9.0.0/24', '10.9.0.1'],
  ['fd00:1::/64', 'fd00:1::'],
])('%s has the gateway %s', (cidr, gateway) => {
  expect(defaultGateway(rangeOf(cidr))).toBe(gateway);
});

describe('pools', () => {
  test.each([
    ['10.9.0.5-10.9.0.9', undefined],
    ['10.9.0.9-10.9.0.5', 'InvalidAllocationPool'],
    ['10.9.1.5-10.9.1.9', 'OutOfBoundsAllocationPool'],
    ['10.9.0.0-10.9.0.9', 'OutOfBoundsAllocationPool'],
    ['10.9.0.5-10.9.0.9 10.9.0.9-10.9.0.12', 'OverlappingAllocationPools'],
    ['10.9.0.1-10.9.0.9', 'GatewayConflictWithAllocationPools'],
  ])('%s: %s', (text, kind) => {
    const pools = text.split(' ').map((each) => {
      const [start = '', end = ''] = each.split('-');
      return { start, end };
    });
    const check = () => checkPools(pools, rangeOf('10.9.0.0/24'), '10.9.0.1');
    if (kind === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ kind }));
  });
});

test('addresses are given from the lowest, until none is left', () => {
  const subnet = { ip_version: 4, allocation_pools: [{ start: '10.9.0.5', end: '10.9.0.6' }] } as Subnet;
  expect(freeAddress(subnet, new Set())).toBe('10.9.0.5');
  expect(freeAddress(subnet, new Set(['10.9.0.5']))).toBe('10.9.0.6');
  expect(freeAddress(subnet, new Set(['10.9.0.5', '10.9.0.6']))).toBeUndefined();
});
