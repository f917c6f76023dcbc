import { expect, test } from 'vitest';
import { argumentOf, optionsOf, UsageError, wholeNumber } from './arguments.ts';

const options = { json: { type: 'boolean' }, port: { type: 'string' } } as const;
const read = (...args: string[]) => optionsOf('npm start --', args, options);

test('options are read', () => {
  expect(read('--json', '--port', '0')).toEqual({ json: true, port: '0' });
});

test.each([
  ['an unknown option', ['--foo'], /^Unknown option '--foo'; expected --json, --port \(see npm start -- --help\)$/],
  ['something else', ['up'], /^Unexpected argument 'up'; expected/],
  ['an option without its value', ['--port'], /--port <value>' argument missing; expected/],
  ['a value for a switch', ['--json=yes'], /--json' does not take an argument; expected/],
])('%s is refused in one line', (_, args, expected) => {
  expect(() => read(...args)).toThrow(UsageError);
  expect(() => read(...args)).toThrow(expected);
});

const readMore = (...args: string[]) => argumentOf('npm run soak --', args, options, 'minutes');

test('one argument is read beside the options, wherever it stands', () => {
  expect(readMore('5', '--json')).toEqual({ values: { json: true }, argument: '5' });
  expect(readMore('--port', '0', '5')).toEqual({ values: { port: '0' }, argument: '5' });
  expect(readMore('--json').argument).toBeUndefined();
});

test.each([
  [
    'an unknown option',
    ['5', '--foo'],
    /^Unknown option '--foo'; expected minutes, --json, --port \(see npm run soak -- /,
  ],
  ['a second argument', ['5', '6', '7'], /^expected minutes and nothing else, found 6 7$/],
])('beside one argument %s is refused in one line', (_, args, expected) => {
  expect(() => readMore(...args)).toThrow(UsageError);
  expect(() => readMore(...args)).toThrow(expected);
});

test('whole numbers are read from the least to the most', () => {
  expect([wholeNumber('--images', '10', 10, 1000), wholeNumber('--images', '1000', 10, 1000)]).toEqual([10, 1000]);
});

test.each(['9', '1001', '-1', '1.5', '1e2', ' 10', ''])('%j is no whole number from 10 to 1000', (text) => {
  const said = `--images: expected a whole number from 10 to 1000, found ${JSON.stringify(text)}`;
  expect(() => wholeNumber('--images', text, 10, 1000)).toThrow(new UsageError(said));
});
