import { expect, test } from 'vitest';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { machinesInMemory } from '../../test/support/harness/machines-in-memory.ts';
import { decide } from './decide.ts';
import declaration from './index.ts';

const names = (observed: Awaited<ReturnType<ReturnType<typeof machinesInMemory>['tell']>>) =>
  observed.flatMap((one) => (typeof one === 'object' && one && 'machine' in one ? [nameOf(one.machine)] : []));
const nameOf = (machine: unknown) => (machine as VirtualMachine).metadata.name;

test('one list finds the machines that wait for many images changed at once', async () => {
  const { requests, create, tell } = machinesInMemory(declaration);
  await create('waits', 'image-7', 'Pending');
  await create('runs', 'image-8', 'Ready');
  await create('waits-for-another', 'another', 'Pending');
  const observed = await tell(...Array.from({ length: 100 }, (_, index) => ['succeeded', `image-${index}`] as const));
  expect(requests.filter((request) => request.startsWith('list VirtualMachine '))).toEqual([
    'list VirtualMachine status.phase!=Ready',
  ]);
  expect(names(observed)).toEqual(['waits']);
});

test('an image that no machine waits for costs one request', async () => {
  const { requests, create, tell } = machinesInMemory(declaration);
  await create('runs', 'ubuntu', 'Ready');
  expect(await tell(['succeeded', 'ubuntu'])).toEqual([]);
  expect(requests).toHaveLength(1);
});

test('an event of a machine costs the same however many wait for its image', async () => {
  const costs = [];
  for (const count of [1, 200]) {
    const { requests, read, create, change } = machinesInMemory(declaration);
    for (let index = 0; index < count; index++) await create(`vm-${index}`, 'ubuntu', 'Provisioning');
    expect(names(await change(['vm-0', 'update']))).toEqual(['vm-0']);
    costs.push({ requests: requests.length, bytes: read.bytes });
  }
  expect(costs[1]).toEqual(costs[0]);
});

test('a preference of many machines is read once', async () => {
  const { requests, create, change } = machinesInMemory(declaration);
  for (const name of ['a', 'b', 'c'])
    await create(name, 'ubuntu', undefined, { preference: name === 'c' ? 'windows.11' : 'fedora' });
  const observed = await change(['a'], ['b'], ['c']);
  expect(observed).toMatchObject(
    ['a', 'b', 'c'].map((name) => ({ machine: { metadata: { name } }, missing: ['preference'] })),
  );
  expect(requests.filter((request) => request === 'get VirtualMachineClusterPreference')).toHaveLength(2);
});

test('of a crowd each reconcile takes a few, events first, and the others come after it', async () => {
  const { create, change, tell } = machinesInMemory(declaration);
  const all = Array.from({ length: 120 }, (_, index) => `vm-${String(index).padStart(3, '0')}`);
  for (const name of all) await create(name, 'ubuntu', 'Provisioning');
  const first = await tell(['succeeded', 'ubuntu']);
  expect(names(first)).toEqual(all.slice(0, 50));
  const actions = first.flatMap((one) => (typeof one === 'object' && one && 'postponed' in one ? decide(one) : []));
  expect(actions.map((action) => action.do === 'requeueAfter' && action.about.metadata.name)).toEqual(all.slice(50));
  const next = await change(...all.slice(50).map((name) => [name] as const), ['vm-007', 'update']);
  expect(names(next)).toEqual(['vm-007', ...all.slice(50, 99)]);
});
