import { expect, test } from 'vitest';
import { formatOf, isForScripts, printed } from './format.ts';
import { kubectlName } from './target.ts';

const list = { watches: () => [] };

test.each([
  [undefined, false, {}, 'table'],
  [undefined, true, {}, 'json'],
  ['json', false, {}, 'json'],
  ['json', true, {}, 'json'],
  ['yaml', false, {}, 'yaml'],
  ['wide', false, {}, 'wide'],
  ['name', false, list, 'name'],
])('-o %s with --json %s is a format', (asked, isJson, command, format) => {
  expect(formatOf(asked, isJson, command)).toBe(format);
});

test.each([
  ['jsonpath', false, list, 'expected -o json, yaml, wide, name, found jsonpath'],
  ['name', false, {}, 'expected -o json, yaml, wide, found name'],
  ['yaml', true, {}, 'expected one format, found --json and -o yaml'],
])('-o %s with --json %s is refused before the command runs', (asked, isJson, command, says) => {
  expect(() => formatOf(asked, isJson, command)).toThrow(says);
});

test('a result is printed for users, or for scripts and nothing else', async () => {
  const outcome = {
    lines: ['NAME', 'a'],
    json: { name: 'a', since: undefined },
    objects: [{ name: 'x/a', about: 'a', says: '' }],
    code: 0,
  } as const;
  expect(await printed(outcome, 'table')).toBe('NAME\na\n');
  expect(await printed(outcome, 'wide')).toBe('NAME\na\n');
  expect(await printed(outcome, 'json')).toBe('{\n  "name": "a"\n}\n');
  expect(await printed(outcome, 'yaml')).toBe('name: a\n');
  expect(await printed(outcome, 'name')).toBe('x/a\n');
  expect((['table', 'wide', 'json', 'yaml', 'name'] as const).filter(isForScripts)).toEqual(['json', 'yaml', 'name']);
});

test('-o name is what kubectl takes', () => {
  expect(kubectlName('VMDiskImage', 'ubuntu')).toBe('vmdiskimage.pelotech.ot/ubuntu');
  expect(kubectlName('VirtualMachine.kupenstack.io', 'vm')).toBe('virtualmachine.kupenstack.io/vm');
});
