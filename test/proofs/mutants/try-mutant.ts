import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest, type TestModule } from 'vitest/node';
import type { Mutant } from './mutants.ts';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface Tried {
  /** A failed test; if any failed by an assertion, one of those. */
  failed: { name: string; isByAssertion: boolean } | undefined;
  /** Why the result does not count: a file does not load, or no test loads the mistake. */
  fault: string | undefined;
  seconds: number;
}

/** The source with the mistake. Throws unless the text to find occurs once. */
export function withMistake({ file, find, replace }: Mutant, source: string): string {
  const [before, after, ...more] = source.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    const times = source.split(find).length - 1;
    throw new Error(
      `Expected ${JSON.stringify(find)} once in ${file}, found it ${times} times; mend test/proofs/mutants/mutants.ts.`,
    );
  }
  return before + replace + after;
}

/** Runs test files, with a mistake if `mutant` is set. The loader puts the mistake in; no file on disk changes. */
export async function runTests(tests: readonly string[], mutant?: Mutant): Promise<Tried> {
  const fromMs = performance.now();
  let isLoaded = false;
  const plugin = {
    name: 'mutant',
    enforce: 'pre' as const,
    transform(source: string, id: string) {
      if (!mutant || relative(root, id.replace(/\?.*/, '')) !== mutant.file) return undefined;
      isLoaded = true;
      return withMistake(mutant, source);
    },
  };
  // The module cache on disk must not contain the mistake.
  const options = { root, fsModuleCache: !mutant, watch: false, reporters: [], maxWorkers: 1, include: [...tests] };
  const vitest = await startVitest([], options, { plugins: [plugin] });
  const modules = vitest.state.getTestModules();
  await vitest.close();
  const ran = new Set(modules.map(({ moduleId }) => relative(root, moduleId)));
  const missing = tests.filter((test) => !ran.has(test));
  const broken = modules.flatMap((module) => module.errors().map(({ message }) => message));
  const fault =
    broken[0] ??
    (missing.length > 0 ? `${missing.join(', ')} has not run` : undefined) ??
    (mutant && !isLoaded ? `no test of ${tests.join(', ')} loads ${mutant.file}` : undefined);
  return { failed: failedBy(modules), fault, seconds: (performance.now() - fromMs) / 1000 };
}

function failedBy(modules: readonly TestModule[]): Tried['failed'] {
  const failed = modules
    .flatMap((module) => [...module.children.allTests('failed')])
    .map((test) => ({
      name: test.fullName,
      isByAssertion: (test.result().errors ?? []).some(({ name }) => name === 'AssertionError'),
    }));
  return failed.find(({ isByAssertion }) => isByAssertion) ?? failed[0];
}
