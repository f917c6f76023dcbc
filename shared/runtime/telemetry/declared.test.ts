import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import project from '../../../package.json' with { type: 'json' };

const root = new URL('../../../', import.meta.url);

const packagesIn = (text: string) =>
  [...text.matchAll(/(?:from |import\()'((?:@[^/']+\/)?[^./'][^/']*)[^']*'/g)]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('node:') && !name.startsWith('#'));

test('every package that is imported is declared, for not every installer makes what others bring visible', async () => {
  const declared = new Set(Object.keys({ ...project.dependencies, ...project.devDependencies }));
  const folders = [
    'functions',
    'shared',
    'crds',
    'knative',
    'deploy/cli',
    'deploy/gateway',
    'deploy/console',
    'deploy/terminal',
  ];
  const found = new Map<string, string>();
  for (const folder of folders) {
    for (const name of await readdir(new URL(`${folder}/`, root), { recursive: true })) {
      if (!/(?<!\.test)\.ts$/.test(name)) continue;
      const text = await readFile(new URL(`${folder}/${name}`, root), 'utf8');
      for (const used of packagesIn(text)) found.set(used, `${folder}/${name}`);
    }
  }
  expect(found.size).toBeGreaterThan(10);
  expect([...found].filter(([name]) => !declared.has(name))).toEqual([]);
});
