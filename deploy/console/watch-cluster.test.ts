import { afterEach, expect, test, vi } from 'vitest';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { policyRef } from '../../shared/policy.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Watching } from '../../shared/runtime/reflect.ts';
import { aHolder, aLease, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { watchCluster } from './watch-cluster.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** An API server with one machine on OpenStack once that kind is served, and nothing else. */
function aServer() {
  const kinds = { isServed: false };
  const machine = {
    ...aVirtualMachine({ name: 'web' }),
    apiVersion: KupenStackMachine.apiVersion,
    spec: { virtualNetworks: [], diskAttachments: [{ name: 'root' }] },
  };
  const kube = {
    pages: async function* (resource: Resource) {
      if (resource !== KupenStackMachine) yield { items: [], resourceVersion: '1' };
      else if (kinds.isServed) yield { items: [machine], resourceVersion: '1' };
      else throw new ApiError(404, '', 'the server could not find the requested resource');
    },
    watch: (_: Resource, { signal }: { signal: AbortSignal }) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
  };
  return { kinds, kube: kube as unknown as Watching };
}

test('a cluster without the OpenStack kinds is shown, and these kinds as soon as they are served', async () => {
  vi.useFakeTimers();
  const { kinds, kube } = aServer();
  const watched = await watchCluster(kube, Date.now);
  const told = vi.fn();
  watched.onChange(told);
  expect(watched.view().servers).toEqual({});
  await vi.advanceTimersByTimeAsync(61_000);
  expect(told).not.toHaveBeenCalled();
  kinds.isServed = true;
  await vi.advanceTimersByTimeAsync(61_000);
  expect(Object.keys(watched.view().servers)).toHaveLength(1);
  expect(told).toHaveBeenCalledOnce();
  watched.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('why an image waits is answered from one look at the queue in a second, and from a new one after that', async () => {
  const done = { phase: 'Succeeded', startedAt: at(0), snapshottingAt: at(100) } as const;
  const queued = { phase: 'Queued', queuedAt: at(0), message: 'Waiting for a free slot.' } as const;
  const busy = { phase: 'Syncing', startedAt: at(0) } as const;
  const images = { done, queued, busy };
  const items = new Map<Resource, object[]>([
    [VMDiskImage, Object.entries(images).map(([name, status]) => aVMDiskImage({ name, status }))],
    [Lease, [aLease([aHolder(aVMDiskImage({ name: 'busy', status: busy }))])]],
    [ConfigMap, [{ metadata: policyRef, data: { concurrency: '1' } }]],
  ]);
  const pages = async function* (resource: Resource) {
    yield { items: items.get(resource) ?? [], resourceVersion: '1' };
  };
  let nowMs = start + 10_000;
  const watched = await watchCluster({ ...aServer().kube, pages } as unknown as Watching, () => nowMs);
  const help = () => watched.why({ section: 'images', key: 'vmdi-farm/queued' }, () => true)?.help;
  const first = help();
  expect(first).toMatch(/1 of 1 slots held .* It may start in about \w+/);
  nowMs += 999;
  expect(help()).toBe(first);
  nowMs += 30_000;
  expect(help()).not.toBe(first);
  watched.close();
});
