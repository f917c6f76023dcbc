import { expect, onTestFinished, test } from 'vitest';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { policyRef } from '../../shared/policy.ts';
import { createImage } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';

test('a slot that becomes free is given while a crowd of new images is still being queued, and each keeps its place', async () => {
  const { kube, another, close } = await serveFunction(declaration);
  await kube.patch(ConfigMap, policyRef, { data: { concurrency: '1' } });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  onTestFinished(async () => {
    release();
    await close();
  });
  const { changed, sweep } = another((client) => ({
    ...client,
    patch: async (resource, ref, ...rest) => {
      if (ref.name.startsWith('new')) {
        begin();
        await released;
      }
      return client.patch(resource, ref, ...rest);
    },
  }));
  const refOf = (name: string) => ({ name, namespace: 'vmdi-farm' });
  const create = (name: string) => createImage(kube, name);
  const statusOf = async (name: string) => (await kube.get(VMDiskImage, refOf(name)))?.status;
  const phaseOf = async (name: string) => (await statusOf(name))?.phase;
  await sweep();
  for (const name of ['first', 'second']) {
    await create(name);
    await changed(VMDiskImage, refOf(name), 'add');
  }
  expect([await phaseOf('first'), await phaseOf('second')]).toEqual(['Syncing', 'Queued']);

  const crowd = Array.from({ length: 8 }, (_, index) => `new-${index}`);
  for (const name of crowd) await create(name);
  const events = [changed(VMDiskImage, refOf('new-0'), 'add')];
  await begun;
  const [volume] = await kube.list(DataVolume, { namespace: 'vmdi-farm' });
  await kube.patch(
    DataVolume,
    volume?.metadata ?? refOf(''),
    { status: { phase: 'Succeeded' } },
    { subresource: 'status' },
  );
  await kube.patch(VMDiskImage, refOf('first'), { status: { phase: 'Snapshotting' } }, { subresource: 'status' });
  events.push(changed(VMDiskImage, refOf('first')));
  await expect.poll(() => phaseOf('second'), { timeout: 10_000 }).toBe('Syncing');
  expect(await Promise.all(crowd.map(phaseOf))).toEqual(crowd.map(() => undefined));
  expect(holdersOf(await kube.get(Lease, leaseRef))).toMatchObject([{ image: 'vmdi-farm/second' }]);

  release();
  expect(await Promise.all(events)).toEqual([202, 202]);
  expect(await Promise.all(crowd.map(phaseOf))).toEqual(crowd.map(() => 'Queued'));
  const places = await Promise.all(crowd.map(async (name) => (await statusOf(name))?.queuedAt));
  expect(places).toEqual([...new Set(places)].sort());
});
