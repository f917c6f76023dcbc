import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { withDeviations } from './deviations-readme.ts';

test('the README lists the deviations as they are', async () => {
  const text = await readFile(new URL('README.md', import.meta.url), 'utf8');
  expect(withDeviations(text), 'run: npx node deploy/local/eventing/deviations-readme.ts').toBe(text);
});

test('a text without the markers is refused with what to do', () => {
  expect(() => withDeviations('# Eventing')).toThrow(/put them back/);
});
