import { expect, test } from 'vitest';
import { machineLives } from '../../test/support/harness/server-crashes.ts';

test('a crash after any write, and another process, come to the same end', async () => {
  const { whole, lives } = await machineLives([]);
  expect(whole).toMatchObject([
    { servers: [{ status: 'ACTIVE', vcpus: 1 }], ports: ['name-net-a'], keyPairs: 1, flavors: ['kup-1c-64m-0s'] },
    { servers: [], ports: [], keyPairs: 0, flavors: [] },
  ]);
  expect(lives).toBeGreaterThanOrEqual(15);
});
