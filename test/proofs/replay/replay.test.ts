import { describe, expect, test } from 'vitest';
import { expected } from './expected.ts';
import { differences, replay } from './replay.ts';
import { scenarioNames } from './scenarios.ts';

test('each scenario has its row, and no other', () => {
  expect(Object.keys(expected)).toEqual(scenarioNames());
});

describe('the decisions over real CDI are the expected ones, whenever a reconcile lists', () => {
  test.each(scenarioNames())('%s', async (name) => {
    expect(differences(name, await replay(name))).toEqual([]);
  });
});
