import { expect, test } from 'vitest';
import { deviations } from './deviations.ts';
import { isCurrent, withDeviations } from './readme.ts';

test('deploy/local/README.md lists the deviations as they are', async () => {
  expect(await isCurrent(false)).toBe(true);
});

test('each deviation is a row, between the markers, and a second time nothing changes', () => {
  const written = withDeviations('before\n<!-- deviations -->\nfrom before\n<!-- /deviations -->\nafter');
  expect(written).toMatch(/^before\n<!-- deviations -->\nCompared are \d+ cases[\s\S]*<!-- \/deviations -->\nafter$/);
  for (const { what } of deviations) expect(written).toContain(what);
  expect(written).not.toContain('from before');
  expect(withDeviations(written)).toBe(written);
});

test('a page without markers is told so', () => {
  expect(() => withDeviations('nothing')).toThrow('expected the markers');
});
