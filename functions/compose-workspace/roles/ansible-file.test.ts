import { expect, test } from 'vitest';
import { ansibleFile } from './ansible-file.ts';

test('what Ansible reads as it is written is YAML', () => {
  expect(
    ansibleFile({ nat: true, out: [1, 'no'], text: 'a: b\nc\n', ü: '{{ x }}', long: 'x y '.repeat(60).trim() }),
  ).toBe(`nat: true\nout:\n  - 1\n  - "no"\ntext: |\n  a: b\n  c\nü: "{{ x }}"\nlong: ${'x y '.repeat(60).trim()}\n`);
});

test.each([
  ['a value "="', { a: '=' }],
  ['a key "<<"', { a: { '<<': { b: 1 } } }],
  ['a small number', { a: 1e-7 }],
  ['a large number', { a: 1e21 }],
  ['a sign that does not print', { a: '\u0080' }],
  ['a byte order mark', { a: '\ufeffx' }],
  ['a line separator', { a: '\u2028' }],
  ['a tab', { a: '\t' }],
])('%s is written as JSON', (_, value) => {
  const text = ansibleFile(value);
  expect(text).toMatch(/^\{\n/);
  expect(JSON.parse(text)).toEqual(value);
});

test('a key that JavaScript knows otherwise is a key like any other', () => {
  expect(ansibleFile(JSON.parse('{"__proto__": {"a": 1}}'))).toBe('__proto__:\n  a: 1\n');
});

test('what occurs twice is written twice', () => {
  const same = { b: [1] };
  expect(ansibleFile({ a: same, c: same })).toBe('a:\n  b:\n    - 1\nc:\n  b:\n    - 1\n');
});
