import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeKubeconfig } from './kubeconfig-file.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('the file is made with its folder, for its owner only', async () => {
  const file = join(folder, 'new', 'kubeconfig');
  await writeKubeconfig(file, 'kind: Config\n');
  expect(await readFile(file, 'utf8')).toBe('kind: Config\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test.each([
  ['a folder there', ''],
  ['a file where a folder is needed', 'taken/kubeconfig'],
])('%s is reported with what to do', async (why, path) => {
  await writeFile(join(folder, 'taken'), '');
  const file = join(folder, path);
  await expect(writeKubeconfig(file, '')).rejects.toThrow(
    `expected to write the kubeconfig to ${file}, found ${why}: choose another file with --kubeconfig`,
  );
});
