import { expect, test } from 'vitest';
import { macAddressOf } from './mac-address.ts';

test('a MAC address is locally administered, and the same for the same names', () => {
  expect(macAddressOf('lab', 'demo', 'control-net')).toMatch(/^02(:[0-9a-f]{2}){5}$/);
  expect(macAddressOf('lab', 'demo', 'control-net')).toBe(macAddressOf('lab', 'demo', 'control-net'));
});

test.each([
  ['namespace', ['lab-2', 'demo', 'control-net']],
  ['machine', ['lab', 'demo-2', 'control-net']],
  ['network', ['lab', 'demo', 'edge']],
  ['place of the border between two names', ['labd', 'emo', 'control-net']],
] as const)('another %s has another', (_, [namespace, machine, network]) => {
  expect(macAddressOf(namespace, machine, network)).not.toBe(macAddressOf('lab', 'demo', 'control-net'));
});
