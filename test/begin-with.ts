import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Has vitest begin with these files (`write-points`, `simulation/simulation`), in their order; all others come after them. */
export function beginWith(...names: readonly string[]): typeof BaseSequencer {
  const rank = ({ moduleId }: TestSpecification) => {
    const found = names.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
    return found < 0 ? names.length : found;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
    }
  };
}
