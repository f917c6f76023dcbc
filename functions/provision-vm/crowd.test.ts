import { expect, test } from 'vitest';
import { machinesInMemory } from '../../test/support/harness/machines-in-memory.ts';
import declaration from './index.ts';

test('one list finds the machines that wait for many images changed at once', async () => {
  const { requests, create, tell } = machinesInMemory(declaration);
  await create('waits', 'image-7', 'Pending');
  await create('runs', 'image-8', 'Ready');
  await create('waits-for-another', 'another', 'Pending');
  const observed = await tell(...Array.from({ length: 100 }, (_, index) => ['succeeded', `image-${index}`] as const));
  expect(requests.filter((request) => request.startsWith('list VirtualMachine '))).toEqual([
    'list VirtualMachine status.phase!=Ready',
  ]);
  expect(observed.map((one) => 'machine' in one && one.machine.metadata.name)).toEqual(['waits']);
});

test('an image that no machine waits for costs one request', async () => {
  const { requests, create, tell } = machinesInMemory(declaration);
  await create('runs', 'ubuntu', 'Ready');
  expect(await tell(['succeeded', 'ubuntu'])).toEqual([]);
  expect(requests).toHaveLength(1);
});
