import { expect, test } from 'vitest';
import { asTyped, calledAs } from './called.ts';

test.each([
  [{}, 'ot-functions'],
  [{ OT_CALLED: '/usr/local/bin/kubectl-ot' }, 'kubectl ot'],
  [{ npm_lifecycle_event: 'ot' }, 'npm run ot --'],
  [{ npm_lifecycle_event: 'test' }, 'ot-functions'],
])('with %o in its environment it was called as %s', (env, called) => {
  expect(calledAs(env)).toBe(called);
});

test('a recommended command is printed as the user has to type it, and nothing else is changed', () => {
  const text = 'Paused by ot-functions. To start: ot-functions resume, ot-functions policy set x 1; ot-functions runs.';
  const typed =
    'Paused by ot-functions. To start: npm run ot -- resume, npm run ot -- policy set x 1; ot-functions runs.';
  expect(asTyped(text, 'npm run ot --')).toBe(typed);
  expect(asTyped(text, 'ot-functions')).toBe(text);
});
