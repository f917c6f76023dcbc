import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInNetworkOf, parseCidr } from '../../shared/machines/ip-address.ts';
import { freeCidr } from './free-cidr.ts';

const first = freeCidr('uid-net', []) ?? '';

test('is a /24 of 10.0.0.0/8, the same one each time', () => {
  expect(first).toMatch(/^10\.\d{1,3}\.\d{1,3}\.0\/24$/);
  expect(freeCidr('uid-net', [])).toBe(first);
  expect(freeCidr('uid-other', [])).not.toBe(first);
});

test.each([
  ['that very network', first],
  ['a part of it', first.replace('.0/24', '.128/25')],
  ['a network that contains it', first.replace(/\d+\.0\/24$/, '0.0/16')],
])('is another where %s is taken', (_, taken) => {
  expect(freeCidr('uid-net', [taken])).toMatch(/^10\./);
  expect(freeCidr('uid-net', [taken])).not.toBe(first);
});

test('minds neither networks elsewhere nor what is no network', () => {
  expect(freeCidr('uid-net', ['192.168.0.0/16', 'fd00::/8', '10.0.0.0', ''])).toBe(first);
});

test('is the last that is left, and then none', () => {
  const all = ['10.0.0.0/9', '10.128.0.0/10', '10.192.0.0/11', '10.224.0.0/12', '10.240.0.0/13', '10.248.0.0/14'];
  const rest = ['10.252.0.0/15', '10.254.0.0/16'];
  expect(freeCidr('uid-net', [...all, ...rest])).toMatch(/^10\.255\./);
  expect(freeCidr('uid-net', [...all, ...rest, '10.255.0.0/16'])).toBeUndefined();
});

test('is found beside every other /24, as in a project with thousands of networks', () => {
  const all = Array.from({ length: 65_536 }, (_, place) => `10.${place >> 8}.${place & 255}.0/24`);
  const left = all.indexOf(first) - 1;
  expect(freeCidr('uid-net', all.toSpliced(left, 1))).toBe(all[left]);
});

test('overlaps with none of whatever is taken', () => {
  const cidr = fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 255 }), fc.integer({ min: 12, max: 28 }))
    .map(([b, c, length]) => `10.${b}.${c}.0/${length}`);
  fc.assert(
    fc.property(fc.string(), fc.array(cidr, { maxLength: 12 }), (uid, taken) => {
      const found = parseCidr(freeCidr(uid, taken) ?? '192.0.2.0/24');
      for (const other of taken.map(parseCidr)) {
        if (!found || !other) throw new Error('expected networks');
        expect(isInNetworkOf(found, other) || isInNetworkOf(other, found)).toBe(false);
      }
    }),
    { numRuns: 100 },
  );
});
