import { expect, test } from 'vitest';
import { UsageError } from '../../terminal/arguments.ts';
import { defaultPorts, portsOf, portTrouble } from './ports.ts';

test('ports are the usual ones unless they are asked for', () => {
  expect(portsOf({})).toEqual(defaultPorts);
  expect(portsOf({ port: '0', 'broker-port': '0', 'store-port': '9000' })).toEqual({
    port: 0,
    brokerPort: 0,
    storePort: 9000,
    metricsPort: 9464,
    consolePort: 18090,
  });
});

test.each([
  ['a name', { port: 'http' }, '--port: expected a port from 0 (any) to 65535, found "http"'],
  [
    'too high a number',
    { 'broker-port': '65536' },
    '--broker-port: expected a port from 0 (any) to 65535, found "65536"',
  ],
  ['a negative one', { 'store-port': '-1' }, '--store-port: expected a port from 0 (any) to 65535, found "-1"'],
  ['nothing', { port: '' }, '--port: expected a port from 0 (any) to 65535, found ""'],
  [
    'the same one twice',
    { 'store-port': '18080' },
    'expected --broker-port and --store-port to differ, found 18080 for both',
  ],
])('%s is refused', (_, options, message) => {
  expect(() => portsOf(options)).toThrow(new UsageError(message));
});

test.each([
  [
    'EADDRINUSE',
    18_080,
    'port 18080 of 127.0.0.1 is in use: stop what listens there, or choose another with --broker-port',
  ],
  ['EACCES', 19_000, 'port 19000 of 127.0.0.1 may not be listened on: choose one above 1023 with --store-port'],
  ['ENOENT', 19_000, undefined],
])('%s says what to do', (code, port, expected) => {
  const error = Object.assign(new Error(`listen ${code}`), { code, port });
  expect(portTrouble(error, defaultPorts)).toBe(expected);
});

test('an error of another kind is no trouble with a port', () => {
  expect(portTrouble(new Error('no'), defaultPorts)).toBeUndefined();
});
