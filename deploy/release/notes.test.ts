import { expect, test } from 'vitest';
import { releaseNotes } from './notes.ts';

const changelog = '# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.1.0]\n\n- old\n';

test('a release has its own section of the changelog, or what is unreleased, and the commits since the one before', () => {
  const titles = [
    'start-sync: starts sooner',
    'test/bench: figures',
    'cli: a bundle',
    'start-sync: stops later',
    'typo',
  ];
  expect(releaseNotes('0.2.0', changelog, { since: 'v0.1.0', titles })).toBe(
    [
      '# ot-functions 0.2.0\n\n- new\n\n## Commits since v0.1.0\n',
      '- **cli**: a bundle',
      '- **other**: typo',
      '- **start-sync**: starts sooner; stops later\n',
    ].join('\n'),
  );
  expect(releaseNotes('0.1.0', changelog, { since: undefined, titles: [] })).toBe('# ot-functions 0.1.0\n\n- old\n');
  expect(() => releaseNotes('0.1.0', '# Changelog', { since: undefined, titles: [] })).toThrow('CHANGELOG.md');
});
