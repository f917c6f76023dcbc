import { expect, onTestFinished, test } from 'vitest';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { policyRef } from '../../shared/policy.ts';
import { clientOf } from './client.ts';
import { startInstalledServer } from './installed-server.ts';

const started = async () => {
  const server = await startInstalledServer(['crds', 'deploy/base']);
  onTestFinished(server.close);
  return clientOf(server);
};

test('servers with the same manifests begin alike, and what is written to one is in no other', async () => {
  const one = await started();
  const installed = await one.get(ConfigMap, policyRef);
  await one.patch(ConfigMap, policyRef, { data: { concurrency: '7' } });
  const other = await started();
  expect(await other.get(ConfigMap, policyRef)).toEqual(installed);
  await other.patch(ConfigMap, policyRef, { data: { concurrency: '8' } });
  expect((await one.get(ConfigMap, policyRef))?.data?.concurrency).toBe('7');
});
