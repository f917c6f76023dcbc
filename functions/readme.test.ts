import { expect, test } from 'vitest';
import { arrows } from '../shared/resources/pelotech/vm-disk-image.ts';
import { isCurrent, withArrows } from './readme.ts';

test('the README shows the arrows that there are; if not, run "node functions/readme.ts"', async () => {
  expect(await isCurrent(false)).toBe(true);
});

test('every arrow is printed between the markers, and nothing else is touched', () => {
  const printed = withArrows('before\n<!-- arrows -->\nold\n<!-- /arrows -->\nafter\n');
  const lines = printed.split('\n');
  expect(lines.slice(0, 2)).toEqual(['before', '<!-- arrows -->']);
  expect(lines.slice(-3)).toEqual(['<!-- /arrows -->', 'after', '']);
  expect(lines.filter((line) => line.startsWith('| '))).toHaveLength(arrows.length + 2);
  expect(printed).toContain('| (none) | Queued | `start-sync` | first sight |');
  expect(withArrows(printed)).toBe(printed);
});

test('a README without the markers is refused', () => {
  expect(() => withArrows('nothing here')).toThrow('expected the markers');
});
