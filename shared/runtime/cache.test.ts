import { expect, onTestFinished, test, vi } from 'vitest';
import { clientOf } from '../../deploy/local/client.ts';
import { startInstalledServer } from '../../deploy/local/installed-server.ts';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { ConfigMap } from '../kinds/core/config-map.ts';
import { Pod } from '../kinds/core/pod.ts';
import { isFinished, unfinished, VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../kinds/resource.ts';
import { policyRef } from '../policy.ts';
import { cachedObject, withCaches } from './cache.ts';
import { ApiError } from './errors.ts';
import type { Kube } from './kube.ts';
import { realPause } from './reflect.ts';

const declared = {
  resource: VMDiskImage,
  fieldSelector: unfinished,
  includes: (image: KubernetesObject) => !isFinished((image as VMDiskImage).status?.phase),
};

/** A cache over a local API server; `hold` keeps back what the watch reports until it resolves. */
async function aCache(hold?: Promise<void>) {
  const server = await startInstalledServer(['crds', 'deploy/local/crds', 'deploy/base', 'deploy/local/base']);
  const ending = new AbortController();
  onTestFinished(async () => {
    ending.abort();
    await server.close();
  });
  const kube = clientOf(server);
  const create = (name: string, by = kube) => {
    const { apiVersion, kind, spec } = aVMDiskImage();
    return by.create(VMDiskImage, { apiVersion, kind, metadata: { name, namespace: 'vmdi-farm' }, spec });
  };
  await create('before');
  const watch: Kube['watch'] = (resource, options, onEvent) =>
    kube.watch(resource, options, async (event) => {
      await hold;
      onEvent(event);
    });
  let waits = 0;
  const pause = (milliseconds: number, signal: AbortSignal) => {
    waits++;
    return realPause(milliseconds, signal);
  };
  const cache = withCaches(
    kube,
    [declared, cachedObject(ConfigMap, policyRef)],
    { pause, signal: ending.signal },
    { pages: kube.pages, watch },
  );
  const names = async () => (await cache.cached?.(VMDiskImage))?.map(({ metadata }) => metadata.name).sort();
  return { admin: kube, kube: cache.kube, cached: cache.cached, create, names, waits: () => waits };
}

const finish = (kube: Kube, name: string) =>
  kube.patch(
    VMDiskImage,
    { namespace: 'vmdi-farm', name },
    { status: { phase: 'Succeeded' } },
    { subresource: 'status' },
  );

test('the cache contains what this process has written and read, and not what is finished', async () => {
  const { admin, kube, create, names } = await aCache();
  await expect.poll(names).toEqual(['before']);
  await create('written', kube);
  expect(await names()).toEqual(['before', 'written']);
  await create('made-by-another');
  expect(await kube.get(VMDiskImage, { namespace: 'vmdi-farm', name: 'made-by-another' })).toBeDefined();
  expect(await names()).toEqual(['before', 'made-by-another', 'written']);
  await finish(admin, 'before');
  await create('last', kube);
  expect(await names()).toEqual(['last', 'made-by-another', 'written']);
});

test('a cache that is behind is not read, and costs one wait', async () => {
  const held = Promise.withResolvers<void>();
  const { kube, create, names, waits } = await aCache(held.promise);
  await expect.poll(names).toEqual(['before']);
  await create('written', kube);
  const before = waits();
  expect(await names()).toBeUndefined();
  expect(await names()).toBeUndefined();
  expect(waits()).toBe(before + 1);
  held.resolve();
  await expect.poll(names).toEqual(['before', 'written']);
});

test('what a list shows is waited for, like what is read by name', async () => {
  const held = Promise.withResolvers<void>();
  const { kube, create, names } = await aCache(held.promise);
  await expect.poll(names).toEqual(['before']);
  await create('listed');
  await kube.list(VMDiskImage, { namespace: 'vmdi-farm' });
  expect(await names()).toBeUndefined();
  held.resolve();
  await expect.poll(names).toEqual(['before', 'listed']);
});

test('a finished image that is read is not waited for: no watch reports it', async () => {
  const { admin, kube, create, names } = await aCache();
  await expect.poll(names).toEqual(['before']);
  await create('finished');
  await finish(admin, 'finished');
  await admin.patch(VMDiskImage, { namespace: 'vmdi-farm', name: 'finished' }, { metadata: { labels: { a: 'b' } } });
  await kube.get(VMDiskImage, { namespace: 'vmdi-farm', name: 'finished' });
  expect(await names()).toEqual(['before']);
});

test('the cache keeps of an object what functions decide by, and not what the API server keeps for server-side apply', async () => {
  const { cached } = await aCache();
  await expect.poll(async () => (await cached?.(VMDiskImage))?.length).toBe(1);
  expect((await cached?.(VMDiskImage))?.map(({ metadata }) => 'managedFields' in metadata)).toEqual([false]);
});

test('while the first list fails it is made again after growing pauses, each with a line in the log', async () => {
  const lines = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  onTestFinished(() => lines.mockRestore());
  const pauses: number[] = [];
  const ending = new AbortController();
  const pages = () => {
    throw new ApiError(403, 'Forbidden', 'may not list');
  };
  const pause = async (milliseconds: number) => void (pauses.push(milliseconds) < 7 || ending.abort());
  withCaches({} as Kube, [declared], { pause, signal: ending.signal }, { pages, watch: async () => undefined });
  await expect.poll(() => pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(lines.mock.calls[0]?.[0]).toContain(
    '"function":"cache of VMDiskImage","message":"403 Forbidden: may not list"',
  );
  expect(lines).toHaveBeenCalledTimes(6);
});

test('a cache of one object has that object alone, and the other kinds no part in it', async () => {
  const { admin, kube, cached, create } = await aCache();
  const policies = async () => (await cached?.(ConfigMap))?.map(({ data }) => data?.concurrency);
  await expect.poll(async () => (await policies())?.length).toBe(1);
  await admin.create(ConfigMap, { metadata: { ...policyRef, name: 'another' } });
  await create('newer', kube);
  await kube.patch(ConfigMap, policyRef, { data: { concurrency: '7' } });
  expect(await policies()).toEqual(['7']);
});

test('a kind without a cache is an error', async () => {
  const { cached } = await aCache();
  await expect(cached?.(Pod)).rejects.toThrow('expected a cache of Pod to be declared, found none');
});

test('a function without a cache has the client as it is', () => {
  const kube = {} as Kube;
  expect(withCaches(kube, undefined, { pause: async () => {}, signal: AbortSignal.abort() })).toEqual({ kube });
});
