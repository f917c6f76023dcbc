import { describe, expect, test } from 'vitest';
import { broadcastOf, cidrIn, countIn, firstIn, overlap, textOf } from './cidr.ts';

describe('a range of addresses', () => {
  test.each([
    ['10.10.0.7/24', '10.10.0.0/24', 254, '10.10.0.1', '10.10.0.255'],
    ['172.27.11.11/30', '172.27.11.8/30', 2, '172.27.11.9', '172.27.11.11'],
    ['fd00:10:16::5/112', 'fd00:10:16::/112', 65534, 'fd00:10:16::1', 'fd00:10:16::ffff'],
    ['::/0', '::/0', 2 ** 128, '::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('%s is %s, of %d addresses from %s to %s', (text, range, count, first, last) => {
    const cidr = cidrIn(text);
    expect(cidr?.text).toBe(range);
    expect(cidr && countIn(cidr)).toBe(count);
    expect(cidr && firstIn(cidr)).toBe(first);
    expect(cidr && textOf(broadcastOf(cidr), cidr.bits)).toBe(last);
  });

  test.each(['', '10.10.0.0', '10.10.0.0/33', '10.10.0/24', '10.10.0.0/24/8', 'fd00::/129', 'lan/24', '10.10.0.0/-1'])(
    'is not %s',
    (text) => expect(cidrIn(text)).toBeUndefined(),
  );

  test.each([
    ['10.10.0.0/24', '10.10.0.128/25', true],
    ['10.10.0.0/24', '10.10.1.0/24', false],
    ['0.0.0.0/0', '10.0.0.0/8', true],
    ['::/0', '10.0.0.0/8', false],
  ])('%s and %s overlap: %s', (a, b, expected) => {
    const [one, other] = [cidrIn(a), cidrIn(b)];
    expect(one && other && [overlap(one, other), overlap(other, one)]).toEqual([expected, expected]);
  });
});
