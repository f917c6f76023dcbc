import { expect, test } from 'vitest';
import { jsonPath } from './json-path.ts';
import { age } from './table.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [0, '0s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [3 * minute + 12 * second, '3m12s'],
  [10 * minute + 5 * second, '10m'],
  [179 * minute, '179m'],
  [3 * hour + 5 * minute, '3h5m'],
  [9 * hour, '9h'],
  [2 * day, '2d'],
  [7 * day + 5 * hour, '7d5h'],
  [400 * day, '400d'],
  [800 * day, '2y70d'],
  [-5 * minute, '<invalid>'],
])('an age of %i ms reads %s', (ageMs, text) => {
  expect(age(ageMs)).toBe(text);
});

const object = {
  spec: { 'disk-size': '1Gi', list: [1, 2, 3] },
  metadata: { annotations: { 'a.b/c': 'x' } },
  status: {
    conditions: [
      { type: 'Held', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
};

test.each([
  ['.spec.disk-size', ['1Gi']],
  ["$.spec['disk-size']", ['1Gi']],
  ['{.metadata.annotations.a\\.b/c}', ['x']],
  [".metadata.annotations['a.b/c']", ['x']],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type == 'Ready')].status", ['True']],
  ['.spec.list[0]', [1]],
  ['.spec.list[-1]', [3]],
  ['.spec.list[*]', [1, 2, 3]],
  ['.spec.none.deeper', []],
])('the path %s reads %j', (path, values) => {
  expect(jsonPath(path)(object)).toEqual(values);
});

test('an invalid path is refused by name', () => {
  expect(() => jsonPath('.a[b')).toThrow('JSONPath ".a[b" is not understood from "[b" on');
});
