import { expect, test } from 'vitest';
import { type Batch, noEvents } from '../../shared/function.ts';
import { diskImageFact } from '../../shared/images/facts.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import declaration from './index.ts';

const namespace = 'vmdi-farm';

test('one list finds the machines that name many images deleted at once', async () => {
  const kube = memoryKube();
  const lists: string[] = [];
  const counted: Kube = {
    ...kube,
    list: (resource, options) => {
      if (resource.kind === VirtualMachine.kind) lists.push(options?.fieldSelector ?? '');
      return kube.list(resource, options);
    },
  };
  const { apiVersion, kind, spec } = aVirtualMachine();
  const create = (name: string, image: string, phase: string) =>
    kube.create(VirtualMachine, {
      ...{ apiVersion, kind, metadata: { namespace: 'lab', name }, status: { phase } },
      spec: { ...spec, vmDiskImageRef: { namespace, name: image } },
    });
  await create('waits', 'image-7', 'Pending');
  await create('runs', 'image-8', 'Ready');
  await create('waits-for-another', 'another', 'Pending');
  const messages = Array.from({ length: 100 }, (_, index) => ({
    ...{ id: String(index), type: diskImageFact('pruned'), source: '/test', time: undefined },
    data: { namespace, name: `image-${index}` },
  }));
  const batch: Batch = { ...noEvents, messages };
  const context = {
    kube: counted,
    nowMs: Date.now(),
    refusals: new Map(),
    gracePeriodMs: 0,
    openClouds: () => [] as never,
  };
  const observed = await declaration.observe(context, batch);
  expect(lists).toEqual(['']);
  const names = observed.flatMap((one) => (isUnreadable(one) ? [] : one.machines.map(({ metadata }) => metadata.name)));
  expect(names.toSorted()).toEqual(['runs', 'waits']);
});

test('two facts of one image cost one list', async () => {
  const kube = memoryKube();
  let lists = 0;
  const counted: Kube = {
    ...kube,
    list: (resource, options) => {
      lists++;
      return kube.list(resource, options);
    },
  };
  const messages = ['queued', 'pruned'].map((fact) => ({
    ...{ id: fact, type: diskImageFact(fact), source: '/test', time: undefined },
    data: { namespace, name: 'image-7' },
  }));
  const refusals = new Map();
  const context = { kube: counted, nowMs: Date.now(), refusals, gracePeriodMs: 0, openClouds: () => [] as never };
  await declaration.observe(context, { ...noEvents, messages });
  expect(lists).toBe(1);
});
