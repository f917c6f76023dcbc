import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLinuxLogin, linuxLoginOf } from './linux-login.ts';

test.each([
  ['demo user', 'demo-user'],
  ['ubuntu', 'ubuntu'],
  ['_apt', '_apt'],
  ['Admin', 'admin'],
  ['jürgen', 'jurgen'],
  ['1st', 'st'],
  ['a.b@c', 'a-b-c'],
  ['x'.repeat(40), 'x'.repeat(32)],
  ['-', 'user'],
  ['用户', 'user'],
])('%s becomes %s', (name, login) => {
  expect(linuxLoginOf(name)).toBe(login);
});

test('whatever the name, Linux takes the login', () => {
  fc.assert(fc.property(fc.string(), (name) => isLinuxLogin(linuxLoginOf(name))));
});
