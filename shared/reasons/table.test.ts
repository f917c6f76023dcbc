import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { reasonTable, rowOf } from './table.ts';

const root = new URL('../../', import.meta.url);
const files = await Promise.all(
  ['functions/', 'shared/'].map((folder) =>
    readdir(new URL(folder, root), { recursive: true }).then((names) =>
      names
        .filter(
          (name) =>
            name.endsWith('.ts') && !name.endsWith('.test.ts') && !(folder + name).startsWith('shared/reasons/'),
        )
        .map((name) => readFile(new URL(folder + name, root), 'utf8')),
    ),
  ),
);
const code = (await Promise.all(files.flat())).join('\n');
const literals = new Set([...code.matchAll(/'([A-Z]\w+)'/g)].map(([, word]) => word));
/** Reasons that are put together, such as `${word}NotReady`. */
const endings = [...code.matchAll(/`\$\{\w+\}([A-Z]\w{5,})`/g)].map(([, ending = '']) => ending);

const words = Object.values(reasonTable).flatMap((section) => Object.keys(section));

test.each(words)('%s is written by a function', (word) => {
  expect(literals.has(word) || endings.some((ending) => word.endsWith(ending))).toBe(true);
});

test('a reason has one row', () => {
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});

test.each(words)('%s is explained in sentences, with placeholders that are replaced', (word) => {
  const { means, help, run = [] } = rowOf(word) ?? { means: '', help: '' };
  expect(means).toMatch(/^\S.*\.$/);
  expect(help).toMatch(/^$|^\S.*\.$/);
  const placeholders = run.flatMap((text) => text.match(/\b[A-Z]{3,}\b/g) ?? []);
  expect(
    placeholders.filter((one) => !/^(NAME|NAMESPACE|SECRET|CONFIGMAP|DATAVOLUME|KIND|KEY|VALUE|FILE)$/.test(one)),
  ).toEqual([]);
});
