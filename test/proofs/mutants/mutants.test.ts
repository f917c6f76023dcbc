import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';
import { root, withMistake } from './try-mutant.ts';

test.each(mutants)('the text to replace occurs once in $file: $loses', async (mutant) => {
  const source = await readFile(join(root, mutant.file), 'utf8');
  expect(withMistake(mutant, source)).not.toBe(source);
});
