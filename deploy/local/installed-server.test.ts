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

test('servers with the same manifests begin alike but for the uids, and what is written to one is in no other', async () => {
  const one = await started();
  const installed = await one.get(ConfigMap, policyRef);
  await one.patch(ConfigMap, policyRef, { data: { concurrency: '7' } });
  const other = await started();
  const found = await other.get(ConfigMap, policyRef);
  expect(found?.data).toEqual(installed?.data);
  expect(found?.metadata).toEqual({ ...installed?.metadata, uid: found?.metadata.uid });
  // An OpenStack that both use tells them apart by the uid of a namespace.
  expect(found?.metadata.uid).not.toBe(installed?.metadata.uid);
  await other.patch(ConfigMap, policyRef, { data: { concurrency: '8' } });
  expect((await one.get(ConfigMap, policyRef))?.data?.concurrency).toBe('7');
});
