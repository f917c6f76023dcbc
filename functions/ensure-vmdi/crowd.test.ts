import { expect, test } from 'vitest';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';
import { machinesInMemory } from '../../test/support/harness/machines-in-memory.ts';
import declaration from './index.ts';

test('one list finds the machines that name many images deleted at once', async () => {
  const { requests, create, tell } = machinesInMemory(declaration);
  await create('waits', 'image-7', 'Pending');
  await create('runs', 'image-8', 'Ready');
  await create('waits-for-another', 'another', 'Pending');
  const observed = await tell(...Array.from({ length: 100 }, (_, index) => ['pruned', `image-${index}`] as const));
  expect(requests.filter((request) => request.startsWith('list VirtualMachine '))).toEqual(['list VirtualMachine ']);
  const names = observed.flatMap((one) => (isUnreadable(one) ? [] : one.machines.map(({ metadata }) => metadata.name)));
  expect(names.toSorted()).toEqual(['runs', 'waits']);
});

test('two facts of one image cost one list', async () => {
  const { requests, tell } = machinesInMemory(declaration);
  await tell(['queued', 'image-7'], ['pruned', 'image-7']);
  expect(requests.filter((request) => request.startsWith('list '))).toHaveLength(1);
});
