import { expect, test } from 'vitest';
import { matches, refusedFilter } from './filters.ts';

// What a Trigger's filters let through: test/proofs/contract/eventing/filter-cases.ts.

test('"" of an attribute means that it is there and not empty', () => {
  const spec = { broker: 'default', subscriber: { uri: 'http://sink/' }, filter: { attributes: { namespace: '' } } };
  const isWanted = (attributes: Record<string, string>) => matches(spec, { attributes, data: new Uint8Array() });
  expect([isWanted({}), isWanted({ namespace: '' }), isWanted({ namespace: 'lab' })]).toEqual([false, false, true]);
});

test('cesql anywhere in a filter is refused, saying what to write instead', () => {
  expect(refusedFilter([{ any: [{ not: { cesql: "kind = 'Widget'" } }] }])).toMatch(/not supported.*exact/);
  expect(refusedFilter([{ exact: { kind: 'Widget' } }])).toBeUndefined();
});
