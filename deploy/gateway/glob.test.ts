import { expect, test } from 'vitest';
import { matchesGlob } from './authorize.ts';

test.each([
  ['labs/images', 'labs/images'],
  ['refs/tags/v*', 'refs/tags/v1.0.0'],
  ['refs/tags/v*', 'refs/tags/v'],
  ['labs/*', 'labs/images'],
  ['refs/heads/**', 'refs/heads/release/7'],
  ['repo:labs/*:ref:refs/tags/*', 'repo:labs/images:ref:refs/tags/v1'],
  ['**', 'any\nthing/at:all'],
])('%s fits %s', (pattern, value) => {
  expect(matchesGlob([pattern], value)).toBe(true);
});

test.each([
  ['labs/images', 'labs/images-of-another'],
  ['labs/images', 'evil/labs/images'],
  ['labs/images', 'LABS/images'],
  ['refs/tags/v*', 'refs/tags/v1/x'],
  ['labs/*', 'labs/images/more'],
  ['repo:labs/*:ref:refs/tags/*', 'repo:labs/x:environment:y:ref:refs/tags/v1'],
  ['a.c', 'abc'],
  ['[ab]', 'a'],
  ['(a|b)', 'a'],
  ['labs/images', 'labs/images\n'],
])('%s does not fit %j', (pattern, value) => {
  expect(matchesGlob([pattern], value)).toBe(false);
});
