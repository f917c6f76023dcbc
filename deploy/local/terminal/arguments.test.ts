import { expect, test } from 'vitest';
import { optionsOf, UsageError } from './arguments.ts';

const options = { json: { type: 'boolean' }, port: { type: 'string' } } as const;
const read = (...args: string[]) => optionsOf('npm start --', args, options);

test('options are read', () => {
  expect(read('--json', '--port', '0')).toEqual({ json: true, port: '0' });
});

test.each([
  [
    'an unknown option',
    ['--foo'],
    /^Unknown option '--foo'; expected --json, --port \(npm start -- --help tells more\)$/,
  ],
  ['something else', ['up'], /^Unexpected argument 'up'; expected/],
  ['an option without its value', ['--port'], /--port <value>' argument missing; expected/],
  ['a value for a switch', ['--json=yes'], /--json' does not take an argument; expected/],
])('%s is refused in one line', (_, args, expected) => {
  expect(() => read(...args)).toThrow(UsageError);
  expect(() => read(...args)).toThrow(expected);
});
