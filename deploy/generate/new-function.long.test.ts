import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A copy of the project, so that nothing is left behind in the original whatever happens. */
async function copyProject(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'ot-new-'));
  const filter = (path: string) => !/^(node_modules|\.git)$/.test(relative(root, path));
  await cp(root, copy, { recursive: true, filter });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

const copy = await copyProject();
afterAll(() => rm(copy, { recursive: true }));

/** Runs a script of the copy as a shell would; its output and exit code. */
const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const { VITEST: _, ...env } = process.env;
    const child = execFile(process.execPath, args, { cwd: copy, env, timeout: 60_000 }, (error, out, err) =>
      resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
    );
  });

const make = (...args: string[]) => run('deploy/generate/new-function.ts', ...args);
async function expectSuccess(result: ReturnType<typeof run>) {
  const { code, out, err } = await result;
  expect({ code, said: code === 0 ? '' : out + err }).toEqual({ code: 0, said: '' });
  return out;
}

const functionsThere = async () => (await readdir(join(copy, 'functions'))).sort();

describe('a new function', async () => {
  const before = await functionsThere();
  const made = await make('say-hello');
  const triggersBefore = await readFile(join(copy, 'knative/base/triggers.yaml'), 'utf8');

  test('is five files in a folder of its name, and what to do next', async () => {
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toMatch(/^wrote functions\/say-hello\/index\.ts$/m);
    expect(made.out).toContain('npx vitest functions/say-hello');
    expect(await functionsThere()).toEqual([...before, 'say-hello'].sort());
    expect((await readdir(join(copy, 'functions/say-hello'))).sort()).toEqual([
      'decide.test.ts',
      'decide.ts',
      'gather.ts',
      'index.test.ts',
      'index.ts',
    ]);
  });

  test('compiles, and is formatted as the rest', async () => {
    const types = await run('node_modules/typescript/bin/tsc');
    expect(types.out.split('\n').filter((line) => line.startsWith('functions/say-hello/'))).toEqual([]);
    await expectSuccess(run('node_modules/@biomejs/biome/bin/biome', 'check', 'functions/say-hello'));
  }, 60_000);

  test('passes its tests', async () => {
    const out = await expectSuccess(run('node_modules/vitest/vitest.mjs', 'run', 'functions/say-hello'));
    expect(out).toMatch(/Tests.*2 passed/);
  }, 60_000);

  test('has a Trigger and a ServiceAccount once they are generated', async () => {
    expect((await run('deploy/generate/main.ts', '--check')).code).toBe(1);
    expect(await run('deploy/generate/main.ts')).toMatchObject({ code: 0 });
    expect((await run('deploy/generate/main.ts', '--check')).code).toBe(0);
    const triggers = await readFile(join(copy, 'knative/base/triggers.yaml'), 'utf8');
    expect(triggers).toContain('name: say-hello');
    expect(triggersBefore).not.toContain('say-hello');
    expect(await readFile(join(copy, 'knative/base/permissions.yaml'), 'utf8')).toMatch(
      /kind: ServiceAccount\nmetadata:\n {2}name: say-hello\n/,
    );
  });
});

describe('the tutorial', async () => {
  const page = await readFile(join(copy, 'functions/TUTORIAL.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm)].map(([, path = '', text = '']) => ({
    path,
    text,
  }));

  test('goes through all five files of the function it makes', () => {
    expect(page).toContain('npm run new -- say-hello\n');
    expect(blocks.map(({ path }) => path).sort()).toEqual(
      ['decide.test.ts', 'decide.ts', 'gather.ts', 'index.test.ts', 'index.ts'].map(
        (file) => `functions/say-hello/${file}`,
      ),
    );
  });

  test('is red before decide.ts is written and green after, compiles, is formatted, and is generated for', async () => {
    const vitest = () => run('node_modules/vitest/vitest.mjs', 'run', 'functions/say-hello');
    for (const { path, text } of blocks.filter((block) => !block.path.endsWith('/decide.ts'))) {
      await writeFile(join(copy, path), text);
    }
    expect((await vitest()).code).toBe(1);
    for (const { path, text } of blocks) await writeFile(join(copy, path), text);
    await expectSuccess(vitest());
    const types = await run('node_modules/typescript/bin/tsc');
    expect(types.out.split('\n').filter((line) => line.startsWith('functions/say-hello/'))).toEqual([]);
    await expectSuccess(
      run('node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', 'functions/say-hello'),
    );
    await expectSuccess(run('deploy/generate/main.ts'));
    expect(await readFile(join(copy, 'knative/base/triggers.yaml'), 'utf8')).toContain('name: say-hello');
  }, 120_000);

  test('without its permission the function fails its test', async () => {
    const path = join(copy, 'functions/say-hello/index.ts');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/may: .*/, 'may: [],'));
    expect((await run('node_modules/vitest/vitest.mjs', 'run', 'functions/say-hello')).code).toBe(1);
    await writeFile(path, text);
  }, 60_000);
});

describe('refused with one clear line and exit code 1, nothing written:', () => {
  test.each([
    ['a name that is taken', ['start-sync'], 'found functions/start-sync'],
    ['a name that is no verb-noun', ['Hello'], 'expected <verb-noun>'],
    ['a way out of the folder', ['../say-hello'], 'expected <verb-noun>'],
    ['a name too long for its objects', [`say-${'hello'.repeat(10)}`], 'expected at most 40 characters, found 54'],
    ['no name', [], 'expected one name, found 0'],
    ['two names', ['say-hello', 'say-goodbye'], 'expected one name, found 2'],
  ])('%s', async (_, args, words) => {
    const before = await functionsThere();
    const { code, out, err } = await make(...args);
    expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 1, out: '', lines: 1 });
    expect(err).toContain(words);
    expect(await functionsThere()).toEqual(before);
  });
});

test('--help shows an example and writes nothing', async () => {
  const before = await functionsThere();
  const { code, out } = await make('--help');
  expect(code).toBe(0);
  expect(out).toContain('npm run new -- expire-snapshots');
  expect(await functionsThere()).toEqual(before);
});

test.each(['start-sync', 'ensure-vmdi', 'provision-vm', 'count-refs'])('%s is a good name', async (name) => {
  expect((await make(name)).err).toContain(`found functions/${name}`);
});
