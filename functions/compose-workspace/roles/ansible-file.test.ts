import { expect, test } from 'vitest';
import { ansibleFile } from './ansible-file.ts';

test('the outermost levels have lines of their own', () => {
  expect(ansibleFile([{ a: { b: 1 }, list: ['x', [2, { c: [] }]], none: {} }])).toBe(
    '[\n  {\n    "a": {\n      "b": 1\n    },\n    "list": [\n      "x",\n      [2,{"c":[]}]\n    ],\n    "none": {}\n  }\n]\n',
  );
});

test.each([
  ['text that YAML would take for something else', { a: 'no', '<<': { b: '=' } }],
  ['signs that do not print', { '\u0080': '\ufeff\u2028\t\ud800' }],
  ['a key that JavaScript knows otherwise', JSON.parse('{"__proto__": {"a": 1}}')],
])('%s is read as it is written', (_, value) => {
  expect(JSON.parse(ansibleFile(value))).toEqual(value);
});
