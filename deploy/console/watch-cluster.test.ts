import { afterEach, expect, test, vi } from 'vitest';
import { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Watching } from '../../shared/runtime/reflect.ts';
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
