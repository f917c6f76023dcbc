import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { drift, write } from './drift.ts';
import { registry } from './registry.ts';

/** A folder that exists until the end of the test. */
async function temporaryFolder(): Promise<URL> {
  const folder = pathToFileURL(`${await mkdtemp(`${tmpdir()}/drift-`)}/`);
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('nothing generated differs from its source; if it does, run "npm run generate"', async () => {
  expect([...(await drift(await registry(), new URL('../../', import.meta.url))).keys()]).toEqual([]);
});

test('missing, changed and left-over files are found and written, and files written by hand are left alone', async () => {
  const root = await temporaryFolder();
  const folderOf = (files: Record<string, string>) => [
    { folder: 'a/', header: '# Generated\n', files: new Map(Object.entries(files)) },
  ];
  const all = folderOf({ 'x.yaml': '# Generated\nx: 1\n', 'b/y.json': '{"y":1}' });
  await mkdir(new URL('a/', root));
  await write(folderOf({ 'z.yaml': '# Generated\nz: 1\n' }), root);
  await writeFile(new URL('a/by-hand.yaml', root), 'kind: Note\n');
  expect([...(await drift(all, root)).keys()].sort()).toEqual(['a/b/y.json', 'a/x.yaml', 'a/z.yaml']);
  await write(all, root);
  expect((await readdir(new URL('a/', root), { recursive: true })).sort()).toEqual([
    'b',
    'b/y.json',
    'by-hand.yaml',
    'x.yaml',
  ]);
  await writeFile(new URL('a/b/y.json', root), '{\n  "y": 1\n}\n');
  expect([...(await drift(all, root)).keys()]).toEqual([]);
});

test('a section is written between its markers, and a page without them is refused', async () => {
  const root = await temporaryFolder();
  const section = { page: 'README.md', name: 'rows', text: '| new |' };
  const page = new URL('README.md', root);
  await writeFile(page, 'before\n<!-- rows -->\nold\n<!-- /rows -->\nafter\n');
  expect(await write([section], root)).toEqual(['README.md']);
  expect(await readFile(page, 'utf8')).toBe('before\n<!-- rows -->\n| new |\n<!-- /rows -->\nafter\n');
  expect(await write([section], root)).toEqual([]);
  await writeFile(page, 'nothing\n');
  await expect(drift([section], root)).rejects.toThrow(
    'README.md: expected the markers <!-- rows --> and <!-- /rows -->',
  );
});

test('a page may have several sections', async () => {
  const root = await temporaryFolder();
  const page = new URL('README.md', root);
  await writeFile(page, '<!-- a -->\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\n');
  const sections = ['a', 'b'].map((name) => ({ page: 'README.md', name, text: `| ${name} |` }));
  await write(sections, root);
  expect(await readFile(page, 'utf8')).toBe(
    '<!-- a -->\n| a |\n<!-- /a -->\nbetween\n<!-- b -->\n| b |\n<!-- /b -->\n',
  );
});
