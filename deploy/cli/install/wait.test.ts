import { expect, test } from 'vitest';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { ApiError, NoAnswer } from '../../../shared/runtime/errors.ts';
import type { Cluster } from './cluster.ts';
import { leftOf, waitFor } from './wait.ts';

/** An API server that returns these lists one after the other, the last one forever, and whose watches all end with that error. */
function cutting(error: Error, ...lists: ConfigMap[][]) {
  let listed = 0;
  const kube = {
    async *pages() {
      yield { items: lists[Math.min(listed++, lists.length - 1)], resourceVersion: String(listed) };
    },
    watch: async () => Promise.reject(error),
  };
  return { cluster: { kube, timeoutMs: 10_000 } as unknown as Cluster, listed: () => listed };
}

const map = ConfigMap.parse({ metadata: { name: 'm', uid: 'u' }, data: {} });
const ref = { namespace: 'lab', name: 'm' };

test.each([
  ['was cut', new TypeError('terminated')],
  ['asked for an expired resourceVersion', new ApiError(410, 'Expired', 'too old')],
])('a wait continues if its watch %s: a list returns what it missed', async (_, error) => {
  const there = cutting(error, [], [map]);
  expect(await waitFor(there.cluster, ConfigMap, ref, (found) => found !== undefined)).toMatchObject({
    isLate: false,
    object: { metadata: { name: 'm' } },
  });
  expect(there.listed()).toBe(2);
  expect(await leftOf(cutting(error, [map], []).cluster, ConfigMap, () => true)).toEqual([]);
});

test.each([
  ['may list but not watch', new ApiError(403, 'Forbidden', 'watch')],
  ['cannot reach the API server', new NoAnswer('connection refused')],
])('a wait by a client that %s ends with that error', async (_, error) => {
  const { cluster } = cutting(error, [map]);
  await expect(waitFor(cluster, ConfigMap, ref, (found) => found === undefined)).rejects.toBe(error);
  await expect(leftOf(cluster, ConfigMap, () => true)).rejects.toBe(error);
});
