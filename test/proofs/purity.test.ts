import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { loadAllFunctions } from '../../knative/functions.ts';
import { breachesOf, circlesOf, importsOf, pureFilesOf } from './purity.ts';

const root = new URL('../../', import.meta.url);
const folders = ['functions', 'shared', 'crds', 'knative', 'deploy', 'test'];

/** Every source file of the project: path from its root → text. */
async function readSources(): Promise<Map<string, string>> {
  const paths = await Promise.all(
    folders.map(async (folder) => {
      const found = await readdir(new URL(`${folder}/`, root), { recursive: true });
      return found.filter((name) => name.endsWith('.ts')).map((name) => `${folder}/${name}`);
    }),
  );
  return new Map(
    await Promise.all(paths.flat().map(async (path) => [path, await readFile(new URL(path, root), 'utf8')] as const)),
  );
}

/** The functions that may write a status and have no status.ts, each with its reason. */
const withoutStatusFile: Readonly<Record<string, string>> = {
  prune: 'each of its reports precedes a deletion, and stands beside it in teardown.ts',
};

describe('the source tree', async () => {
  const sources = await readSources();

  test('keeps its one import rule, and its decisions pure', () => {
    expect(breachesOf(sources)).toEqual([]);
  });

  test('has no circle of imports, not even of types', () => {
    expect(circlesOf(sources)).toEqual([]);
  });

  test('is judged by nothing that it imports: no file of the invariants knows a rule or a function', () => {
    const judge = [...sources].filter(([path]) => path.startsWith('test/proofs/invariants/'));
    const known = judge.flatMap(([path, text]) => importsOf(path, text).map(({ from }) => `${path} imports ${from}`));
    expect(known.length).toBeGreaterThan(100);
    expect(known.filter((one) => /imports (shared\/(?!kinds\/)|functions\/)/.test(one))).toEqual([]);
  });

  test('has every function laid out alike, with a status.ts where it may write a status', async () => {
    const functions = await loadAllFunctions();
    const reporting = functions.filter(({ may }) => may.some(({ subresource }) => subresource === 'status'));
    expect(reporting.length).toBeGreaterThan(8);
    const expected = [
      ...functions.flatMap(({ name }) => ['index.ts', 'gather.ts', 'decide.ts'].map((file) => `${name}/${file}`)),
      ...reporting.filter(({ name }) => !withoutStatusFile[name]).map(({ name }) => `${name}/status.ts`),
    ];
    expect(expected.filter((path) => !sources.has(`functions/${path}`))).toEqual([]);
    const excused = Object.keys(withoutStatusFile).filter((name) => sources.has(`functions/${name}/status.ts`));
    expect(excused).toEqual([]);
  });

  test('is read whole: every function decides in a pure file, and files split off from one are pure as well', () => {
    const pure = pureFilesOf(sources);
    const functions = [...sources.keys()].filter((path) => /^functions\/[^/]+\/index\.ts$/.test(path));
    for (const path of functions) expect([...pure]).toContain(path.replace('index.ts', 'decide.ts'));
    expect([...pure]).toContain('functions/start-sync/transition/next-transition.ts');
    expect([...pure]).toContain('functions/start-sync/slots/occupancy.ts');
    expect([...pure].some((path) => path.endsWith('index.ts') || path.endsWith('.test.ts'))).toBe(false);
  });
});

/** What the checks say of one planted line in a file of that path. */
const planted = (path: string, line: string, others: Record<string, string> = {}) =>
  breachesOf(new Map([[path, `/** A file. */\n\n${line}\n`], ...Object.entries(others)]));

describe('a decision that is not pure', () => {
  const decide = 'functions/start-sync/decide.ts';
  test.each([
    ['const now = Date.now();', 'Date.now'],
    ['const now = new Date();', 'new Date without an argument'],
    ['const now = new Date;', 'new Date without an argument'],
    ['const now = Date();', 'Date()'],
    ['const jitter = Math.random();', 'Math.random'],
    ['export async function decide() {}', 'async'],
    ['const found = await observed;', 'await'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code as text
    ['const text = `${await observed}`;', 'await'],
    ['const found = fetch(url);', 'fetch'],
    ['const limit = process.env.LIMIT;', 'process'],
    ['setTimeout(done, 10);', 'setTimeout'],
    ["const kube = import('./kube.ts');", 'import()'],
  ])('is caught by file and line: %s', (line, what) => {
    expect(planted(decide, line)).toContain(`${decide}:3 is pure and uses ${what}`);
  });
  test.each([
    ["import { kubeClient } from '../../shared/runtime/kube.ts';", 'shared/runtime/kube.ts'],
    ["import { on } from '../../shared/function.ts';", 'shared/function.ts'],
    ["import { readFile } from 'node:fs/promises';", 'node:fs/promises'],
    ["import { randomUUID } from 'node:crypto';", 'node:crypto'],
    ["import { \n  kubeClient, \n } from '../../shared/runtime/kube.ts';", 'shared/runtime/kube.ts'],
    ["export * from '../../shared/runtime/kube.ts';", 'shared/runtime/kube.ts'],
    ["import '../../shared/runtime/telemetry/metrics.ts';", 'shared/runtime/telemetry/metrics.ts'],
  ])('is caught by what it imports: %s', (line, from) => {
    expect(planted(decide, line)[0]).toMatch(new RegExp(`^${decide}:3 is pure and imports .*${from}$`));
  });
  test('is caught in a file that a decide.ts imports from its own folder, and in shared', () => {
    const others = { 'functions/start-sync/queue.ts': 'const now = Date.now();' };
    const line = "import { byPlace } from './queue.ts';";
    expect(planted(decide, line, others)).toEqual(['functions/start-sync/queue.ts:1 is pure and uses Date.now']);
    expect(planted('shared/kubernetes/time.ts', 'const now = Date.now();')).toHaveLength(1);
  });
  test('is caught in a folder of its function', () => {
    const others = { 'functions/start-sync/queue/place.ts': 'const now = Date.now();' };
    const line = "import { byPlace } from './queue/place.ts';";
    expect(planted(decide, line, others)).toEqual(['functions/start-sync/queue/place.ts:1 is pure and uses Date.now']);
  });
  test.each([
    'const then = new Date(nowMs);',
    '// no Date.now() here, await nothing',
    "const message = 'await the fetch of process.env';",
    "const url = 'https://a.example/b'; // fetch",
    "import type { Message } from '../../shared/function.ts';",
    "import { type Message, type Wake } from '../../shared/function.ts';",
    "import { hash } from 'node:crypto';",
    'const updates = Date.parse(text);',
    "const text = `\nimport { kubeClient } from '../../shared/runtime/kube.ts';\n`;",
    "/*\nimport { kubeClient } from '../../shared/runtime/kube.ts';\n*/",
  ])('is no such thing: %s', (line) => {
    expect(planted(decide, line)).toEqual([]);
  });
});

describe('an import against the rule', () => {
  test.each([
    ['shared/runtime/http.ts', '../../functions/prune/decide.ts'],
    ['shared/runtime/http.ts', '../../deploy/local/clock.ts'],
    ['shared/kinds/resource.ts', '../kubernetes/names.ts'],
    ['shared/kubernetes/names.ts', '../runtime/kube.ts'],
    ['functions/prune/index.ts', '../start-sync/queue.ts'],
    ['functions/prune/unused/decide.ts', '../../start-sync/queue.ts'],
    ['functions/prune/index.ts', '../../deploy/local/clock.ts'],
    ['functions/prune/index.ts', '../../test/builders.ts'],
    ['knative/manifests.ts', '../deploy/manifests.ts'],
    ['crds/definitions.ts', '../knative/manifest.ts'],
    ['deploy/local/demo.ts', '../../test/builders.ts'],
    ['deploy/local/start.ts', '../../test/builders.ts'],
    ['deploy/local/demo.ts', '../../functions/prune/decide.ts'],
    ['deploy/local/demo.ts', '../../knative/triggers.ts'],
    ['deploy/image/main.ts', '../local/start.ts'],
    ['deploy/cli/state.ts', '../local/clock.ts'],
    ['deploy/production/chart.ts', '../local/clock.ts'],
    ['deploy/generate/new-function.ts', '../local/clock.ts'],
    ['deploy/generate/new-function.ts', '../../test/builders.ts'],
  ])('is caught: %s of %s', (path, from) => {
    expect(planted(path, `import { it } from '${from}';`)[0]).toMatch(new RegExp(`^${path}:3 imports `));
  });
  test.each([
    ['functions/prune/index.ts', '../../shared/function.ts'],
    ['functions/prune/unused/since.ts', '../teardown.ts'],
    ['functions/prune/decide.test.ts', '../../test/builders.ts'],
    ['knative/functions.ts', '../functions/prune/index.ts'],
    ['deploy/local/start.ts', '../../knative/functions.ts'],
    ['deploy/local/eventing/source.ts', '../../../knative/plural.ts'],
    ['deploy/image/main.ts', '../../functions/prune/index.ts'],
    ['test/local.test.ts', '../deploy/local/start.ts'],
  ])('is not: %s of %s', (path, from) => {
    expect(planted(path, `import { it } from '${from}';`)).toEqual([]);
  });
});

test('a circle of imports is found wherever it is entered', () => {
  const circle = (entry: string) =>
    new Map([
      [entry, "import './a.ts';"],
      ['a.ts', "import type { B } from './b.ts';"],
      ['b.ts', "import { a } from './c/d.ts';"],
      ['c/d.ts', "import { a } from '../a.ts';"],
      ['leaf.ts', "import './entry.ts';"],
    ]);
  expect(circlesOf(circle('entry.ts'))).toEqual([['a.ts', 'b.ts', 'c/d.ts', 'a.ts']]);
  expect(circlesOf(circle('a.ts').set('b.ts', ''))).toEqual([]);
});
