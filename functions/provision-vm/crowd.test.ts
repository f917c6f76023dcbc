import { expect, test } from 'vitest';
import { noEvents } from '../../shared/function.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import declaration from './index.ts';

const namespace = 'vmdi-farm';

/** Machines in memory; `tell` observes after these images succeeded. */
function inMemory() {
  const kube = memoryKube();
  const requests: string[] = [];
  const counted: Kube = {
    ...kube,
    get: (resource, ref) => {
      requests.push(`get ${resource.kind}`);
      return kube.get(resource, ref);
    },
    list: (resource, options) => {
      requests.push(`list ${resource.kind} ${options?.fieldSelector}`);
      return kube.list(resource, options);
    },
  };
  const { apiVersion, kind, spec } = aVirtualMachine();
  const create = (name: string, image: string, phase: string) =>
    kube.create(VirtualMachine, {
      ...{ apiVersion, kind, metadata: { namespace: 'lab', name }, status: { phase } },
      spec: { ...spec, vmDiskImageRef: { namespace, name: image } },
    });
  const tell = (...images: string[]) => {
    const messages = images.map((name) => ({
      ...{ id: name, type: diskImageFact('succeeded'), source: '/test', time: undefined },
      data: { namespace, name },
    }));
    const context = {
      kube: counted,
      nowMs: Date.now(),
      refusals: new Map(),
      gracePeriodMs: 0,
      openClouds: () => [] as never,
    };
    return declaration.observe(context, { ...noEvents, messages });
  };
  return { requests, create, tell };
}

test('one list finds the machines that wait for many images changed at once', async () => {
  const { requests, create, tell } = inMemory();
  await create('waits', 'image-7', 'Pending');
  await create('runs', 'image-8', 'Ready');
  await create('waits-for-another', 'another', 'Pending');
  const observed = await tell(...Array.from({ length: 100 }, (_, index) => `image-${index}`));
  expect(requests.filter((request) => request.startsWith('list VirtualMachine '))).toEqual([
    'list VirtualMachine status.phase!=Ready',
  ]);
  expect(observed.map((one) => 'machine' in one && one.machine.metadata.name)).toEqual(['waits']);
});

test('an image that no machine waits for costs one request', async () => {
  const { requests, create, tell } = inMemory();
  await create('runs', 'ubuntu', 'Ready');
  expect(await tell('ubuntu')).toEqual([]);
  expect(requests).toHaveLength(1);
});
