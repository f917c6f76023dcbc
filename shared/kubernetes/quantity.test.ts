import { expect, test } from 'vitest';
import { amountOf, bytesOf } from './quantity.ts';

test.each([
  ['0', 0],
  ['1', 1],
  ['64Mi', 64 * 2 ** 20],
  ['24Gi', 24 * 2 ** 30],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['0.1Gi', 107_374_183],
  ['1.5G', 1_500_000_000],
  ['2T', 2e12],
  ['12e6', 12_000_000],
  ['1E3', 1000],
  ['1E', 1e18],
  ['1Ei', 2 ** 60],
  ['1500m', 2],
  ['4.35k', 4350],
  ['1n', 1],
  ['+5k', 5000],
  ['.5Ki', 512],
])('%s is %i bytes', (text, bytes) => {
  expect(bytesOf(text)).toBe(bytes);
});

test.each([
  ['700m', 0.7],
  ['1400m', 1.4],
  ['0.7', 0.7],
  ['100u', 0.0001],
])('%s is %d of anything', (text, amount) => {
  expect(amountOf(text)).toBe(amount);
});

test.each(['', 'Gi', '24 Gi', '24gi', '-1Gi', '1Kii', '1.2.3', '0x10', 'NaN', '1e999', ' 1'])(
  '%j is no size',
  (text) => {
    expect(bytesOf(text)).toBeUndefined();
  },
);
