import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { tarGzipOf, tarOf } from './archive.ts';

const listed = (archive: Buffer, ...options: string[]) =>
  execFileSync('tar', ['-tvf', '-', '--utc', ...options], { input: archive, encoding: 'utf8' });

test('tar reads names, modes, times and contents, whatever the order they were given in', () => {
  const entries = [
    { name: 'b/run.sh', content: '#!/bin/sh\n', isProgram: true },
    { name: 'a.txt', content: 'x'.repeat(513) },
    { name: 'empty', content: '' },
  ];
  expect(listed(tarOf(entries, 86_400)).trim().split('\n')).toEqual([
    '-rw-r--r-- root/root       513 1970-01-02 00:00 a.txt',
    '-rwxr-xr-x root/root        10 1970-01-02 00:00 b/run.sh',
    '-rw-r--r-- root/root         0 1970-01-02 00:00 empty',
  ]);
  expect(tarOf(entries.toReversed(), 86_400).equals(tarOf(entries, 86_400))).toBe(true);
  const read = execFileSync('tar', ['-xOzf', '-', 'a.txt'], { input: tarGzipOf(entries, 0), encoding: 'utf8' });
  expect(read).toBe('x'.repeat(513));
});

test('a name of over 100 bytes is split at a folder; one that cannot be is refused', () => {
  const long = `${'folder/'.repeat(20)}file.yaml`;
  expect(listed(tarOf([{ name: long, content: '' }], 0))).toContain(long);
  expect(() => tarOf([{ name: 'x'.repeat(101), content: '' }], 0)).toThrow('expected a name');
});
