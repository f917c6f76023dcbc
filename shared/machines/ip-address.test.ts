import { describe, expect, test } from 'vitest';
import { formatIp, isInNetworkOf, parseCidr, parseIp, unusable } from './ip-address.ts';

const why = (text: string) => {
  const cidr = parseCidr(text);
  return cidr ? unusable(cidr) : 'no address';
};

describe('an address with the length of its network', () => {
  test.each(['10.10.0.161/24', '4.29.163.6/28', '172.27.11.11/28', '10.0.0.0/31', '10.0.0.1/32', 'fd00::5/64'])(
    '%s is usable',
    (text) => {
      expect(why(text)).toBeUndefined();
    },
  );
  test.each([
    ['10.10.0.0/24', 'the network itself'],
    ['4.29.163.15/28', 'broadcast'],
    ['127.0.0.1/8', 'the machine itself'],
    ['0.1.2.3/8', 'the machine itself'],
    ['224.0.0.5/24', 'multicast'],
    ['fd00::/64', 'the network itself'],
    ['ff02::1/64', 'multicast'],
    ['10.10.0.300/24', 'no address'],
    ['10.10.0.1/33', 'no address'],
    ['10.10.0.1', 'no address'],
    ['1::2::3/64', 'no address'],
    ['1:2:3:4:5:6:7/64', 'no address'],
    ['fd00::g/64', 'no address'],
    ['fe80::1%eth0/64', 'no address'],
    ['010.10.0.1/24', 'no address'],
    ['10.10.1/24', 'no address'],
    ['0x0a.10.0.1/24', 'no address'],
  ])('%s is not: %s', (text, words) => {
    expect(why(text)).toContain(words);
  });
});

test.each([
  ['10.10.0.161/24', '10.10.0.1', true],
  ['10.10.0.161/24', '10.10.1.1', false],
  ['10.10.0.161/24', 'fd00::1', false],
  ['fd00::5/64', 'fd00::1', true],
])('from %s, %s is in the same network: %s', (own, other, expected) => {
  const cidr = parseCidr(own);
  const ip = parseIp(other);
  expect(cidr && ip && isInNetworkOf(cidr, ip)).toBe(expected);
});

test.each([
  ['10.10.0.161', '10.10.0.161'],
  ['255.0.0.1', '255.0.0.1'],
  ['fd00:0:0:0:0:0:0:5', 'fd00::5'],
  ['FD00:0:0:1::0:5', 'fd00:0:0:1::5'],
  ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ['::', '::'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
])('%s is written %s', (text, expected) => {
  const ip = parseIp(text);
  expect(ip && formatIp(ip)).toBe(expected);
});
