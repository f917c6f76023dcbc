import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What of a run comes when. Names are those of files without their endings (`write-points`, `simulation/simulation`). */
interface Order {
  /** In each part of a run that is cut in parts. */
  inEachPart?: readonly string[];
}

/** Makes vitest begin with these files, in this order, before all others. `--shard=K/N` takes each N-th of them. */
export function sequencerOf(names: readonly string[], { inEachPart = [] }: Order = {}): typeof BaseSequencer {
  const isOneOf = ({ moduleId }: TestSpecification, name: string) => moduleId.endsWith(`/${name}.test.ts`);
  const rank = (file: TestSpecification) => {
    const found = names.findIndex((name) => isOneOf(file, name));
    return found < 0 ? names.length : found;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
    }

    /** What has an order is no equal share by chance: neighbours are alike, and go to different parts. */
    override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
      const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
      const byName = files.toSorted((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
      const isInEach = (file: TestSpecification) => inEachPart.some((name) => isOneOf(file, name));
      const dealt = byName.filter((file) => !isInEach(file));
      return byName.filter((file) => isInEach(file) || dealt.indexOf(file) % count === index - 1);
    }
  };
}
