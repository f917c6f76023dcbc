import { access, mkdir, writeFile } from 'node:fs/promises';

const usage = `Makes a new function: five files that compile, pass their tests and do nothing yet.

  npm run new -- <verb-noun>

Example:
  npm run new -- expire-snapshots`;

const longest = 40;

function faultOf(name: string): string | undefined {
  if (!/^[a-z]+(-[a-z0-9]+)+$/.test(name)) {
    return `expected <verb-noun> in lower-case letters joined by "-", such as expire-snapshots, found ${JSON.stringify(name)}`;
  }
  return name.length <= longest ? undefined : `expected at most ${longest} characters, found ${name.length}`;
}

/** Writes the files of a new function into `folder`; throws with one line for people where it cannot. */
async function makeFunction(name: string, folder: URL): Promise<string[]> {
  const fault = faultOf(name);
  if (fault) throw new Error(fault);
  const own = new URL(`${name}/`, folder);
  if (await isThere(own)) {
    throw new Error(`expected a name that is free, found functions/${name}; take another, or edit that one`);
  }
  await mkdir(own, { recursive: true });
  const files = Object.entries(filesOf(name));
  for (const [file, text] of files) await writeFile(new URL(file, own), text);
  return files.map(([file]) => `functions/${name}/${file}`);
}

const isThere = (path: URL) =>
  access(path).then(
    () => true,
    () => false,
  );

const filesOf = (name: string) => ({
  'index.ts': `import { defineFunction, on } from '../../shared/function.ts';
import { decide, type Observed } from './decide.ts';
import { gather } from './gather.ts';

/** ${sentence(name)}. */
export default defineFunction<Observed>({
  name: '${name}',
  // Whose timers and sources wake it.
  system: 'images',
  on: [on.audit()],
  may: [],
  scale: 'zero',
  observe: gather,
  decide,
});
`,
  'gather.ts': `import type { Context } from '../../shared/function.ts';
import type { Observed } from './decide.ts';

/** One entry for each decision: what it needs to know, and the time. */
export async function gather({ nowMs }: Context): Promise<Observed[]> {
  return [{ nowMs }];
}
`,
  'decide.ts': `import type { Action } from '../../shared/actions.ts';

/** Everything that the decision rests on. */
export interface Observed {
  nowMs: number;
}

/** Nothing is done yet. */
export function decide(_observed: Observed): Action[] {
  return [];
}
`,
  'decide.test.ts': `import { expect, test } from 'vitest';
import { decide, type Observed } from './decide.ts';

const observed: Observed = { nowMs: Date.parse('2026-01-01T00:00:00Z') };

test.each([['an empty cluster', observed, []]])('%s', (_, found, actions) => {
  expect(decide(found)).toEqual(actions);
});
`,
  'index.test.ts': `import { afterAll, expect, test } from 'vitest';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

const harness = await serveFunction(declaration);
afterAll(harness.close);

test('an audit of an empty cluster is done and records nothing', async () => {
  expect(await harness.audit()).toBe(202);
  expect(harness.published).toEqual([]);
});
`,
});

/** "expire-snapshots" → "Expire snapshots", to begin with. */
const sentence = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');

const nextSteps = (name: string) => `
Next, in functions/${name}/ (functions/README.md goes through it):
  1. index.ts: \`on\`, its subscriptions; \`may\`, what it may do; gather.ts: what it reads
  2. decide.test.ts: a row for each case, red:      npx vitest functions/${name}
  3. decide.ts: until they are green
  4. npm run generate                               its Trigger and permissions appear in knative/
  5. npm run check && npm test                      then: npm start`;

async function main(names: readonly string[]): Promise<number> {
  if (names.includes('--help') || names.includes('-h')) {
    console.log(usage);
    return 0;
  }
  const [name, ...others] = names;
  if (name === undefined || others.length > 0) {
    console.error(`expected one name, found ${names.length}: npm run new -- <verb-noun>, such as expire-snapshots`);
    return 1;
  }
  try {
    for (const file of await makeFunction(name, new URL('../../functions/', import.meta.url)))
      console.log(`wrote ${file}`);
    console.log(nextSteps(name));
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
