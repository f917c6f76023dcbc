import { expect, test } from 'vitest';
import { bytesOf, quantityOf } from './quantity.ts';

test.each([
  ['24Gi', 24 * 1024 ** 3],
  ['1.5G', 1.5e9],
  ['512', 512],
  ['100m', 1],
])('%s is %d bytes', (quantity, bytes) => {
  expect(bytesOf(quantity)).toBe(bytes);
});

test.each([
  [24 * 1024 ** 3, '24Gi'],
  [1536 * 1024 ** 2, '1536Mi'],
  [1000, '1000'],
  [0, '0'],
])('%d bytes are written %s', (bytes, quantity) => {
  expect(quantityOf(bytes)).toBe(quantity);
});

test('what is no quantity is refused with what was found', () => {
  expect(() => bytesOf('big')).toThrow('expected a quantity such as 24Gi, found "big"');
});
