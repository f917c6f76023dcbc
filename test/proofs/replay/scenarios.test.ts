import { expect, test } from 'vitest';
import { readScenario, scenarioNames } from './scenarios.ts';

test('all 46 scenarios are read, each in the order of its writes', () => {
  expect(scenarioNames()).toHaveLength(46);
  for (const name of scenarioNames()) {
    const times = readScenario(name).map(({ at }) => at);
    expect(times, name).toEqual([...times].sort());
  }
});

test('a change has the whole object, made of all patches before it', () => {
  const changes = readScenario('42-false-ImporterReplaced');
  const importer = changes.filter(({ object }) => object.kind === 'Pod')[0]?.object.metadata.name;
  const asked = changes.findIndex(
    ({ object }) =>
      object.metadata.name === importer && JSON.stringify(object).includes('scratchSpaceRequired\\":true'),
  );
  expect(changes[asked]?.object).toMatchObject({
    metadata: { labels: { 'app.kubernetes.io/managed-by': 'cdi-controller' } },
    spec: { nodeName: 'node' },
    status: { phase: 'Running', containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] },
  });
});
