import { expect, test } from 'vitest';
import { loadAllFunctions } from '../../../knative/functions.ts';
import { crowds } from './crowds.ts';
import { runsBeside } from './measure.ts';

// dead-letters reads Triggers, a Broker and Events of its own namespace: nothing that grows with objects.
test('each function but dead-letters is measured beside a crowd', async () => {
  const all = await loadAllFunctions();
  const measured = all.filter((one) => Object.values(crowds).some((crowd) => runsBeside(crowd, one)));
  expect(all.filter((one) => !measured.includes(one)).map(({ name }) => name)).toEqual(['dead-letters']);
});
