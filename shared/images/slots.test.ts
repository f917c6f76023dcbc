import { expect, test } from 'vitest';
import { type Holder, serializeHolders } from './slots.ts';

test('names of images that do not fit beside the other annotations are left out, and no holder is', () => {
  const holders: Holder[] = Array.from({ length: 1000 }, (_, index) => ({
    uid: `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`,
    image: `${'n'.repeat(63)}/${'x'.repeat(253)}`,
    revision: 1,
    attempt: 1,
    since: '2026-11-27T00:00:00Z',
  }));
  const beside = { 'pelotech.ot/egress': 'x'.repeat(90_000) };
  const text = serializeHolders(holders, beside);
  expect(text.length + 90_000).toBeLessThan(256 * 1024);
  const found = JSON.parse(text) as Holder[];
  expect(found).toHaveLength(1000);
  expect(found.filter(({ image }) => image !== '').length).toBeGreaterThan(100);
});
