import { expect, test } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { sequencerOf } from './sequencer.ts';

const files = ['d', 'soak', 'b', 'a', 'e', 'c'].map(
  (name) => ({ moduleId: `/x/${name}.test.ts` }) as TestSpecification,
);

async function part(index: number, count: number) {
  const Sequencer = sequencerOf(['a', 'b', 'soak', 'c'], { inEachPart: ['soak'] });
  const sequencer = new Sequencer({ config: { root: '/x', shard: { index, count } } } as Vitest);
  const found = await sequencer.shard(files);
  return found.map(({ moduleId }) => moduleId.slice('/x/'.length, -'.test.ts'.length));
}

test('the parts of a run have every file, each its share, and what each is to have', async () => {
  expect(await part(1, 3)).toEqual(['a', 'soak', 'd']);
  expect(await part(2, 3)).toEqual(['b', 'soak', 'e']);
  expect(await part(3, 3)).toEqual(['soak', 'c']);
  expect(await part(1, 1)).toEqual(['a', 'b', 'soak', 'c', 'd', 'e']);
});
