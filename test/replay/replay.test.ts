import { describe, expect, test } from 'vitest';
import { expected } from './expected.ts';
import { differences, replay } from './replay.ts';
import { scenarioNames } from './scenarios.ts';

test('each scenario has its row, and no other', () => {
  expect(Object.keys(expected)).toEqual(scenarioNames());
});

describe('what is decided over real CDI is what should be, whenever the lists of a pass fall', () => {
  test.each(scenarioNames())('%s', async (name) => {
    expect(differences(name, await replay(name))).toEqual([]);
  });
});
