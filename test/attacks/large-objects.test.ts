import { afterAll, beforeAll, expect, test } from 'vitest';
import provisionVm from '../../functions/provision-vm/index.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { aMachineOf } from '../support/builders/workspaces.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';
import { anAttacker, mayMakeMachines } from './attacker.ts';

let harness: FunctionHarness;
let mallory: Kube;

beforeAll(async () => {
  harness = await serveFunction(provisionVm);
  mallory = await anAttacker(harness, 'tenant-a', [mayMakeMachines]);
});
afterAll(() => harness.close());

const create = (name: string, spec: object) =>
  createMachine({ kube: mallory, namespace: 'tenant-a' }, name, 'any', spec);
const key = (characters: number) => `ssh-ed25519 ${'x'.repeat(characters - 12)}`;
const usersWith = (count: number, keys: readonly string[]) =>
  Array.from({ length: count }, (_, index) => ({ name: `u${index}`, ssh_authorized_keys: keys }));
const routes = (count: number) => Array.from({ length: count }, () => ({ to: '10.1.0.0/16', via: '10.0.0.1' }));
const interfacesWith = (count: number, each: number) =>
  Array.from({ length: count }, (_, index) => ({ network: `n${index}`, routes: routes(each) }));

const refused = { status: 422 };

// Gained: the memory of each function that lists machines; fifty such objects ended it (3.5 MB each in memory).
test('a machine of a megabyte is refused', async () => {
  const users = usersWith(
    7,
    Array.from({ length: 20 }, () => key(8000)),
  );
  await expect(create('large', { users })).rejects.toMatchObject(refused);
  await expect(create('routed', { interfaces: interfacesWith(16, 32) })).rejects.toMatchObject(refused);
  expect(await mallory.list(VirtualMachine, { namespace: 'tenant-a' })).toEqual([]);
});

test('so is a lab of such machines', async () => {
  const users = usersWith(
    7,
    Array.from({ length: 20 }, () => key(8000)),
  );
  const lab = { metadata: { name: 'lab' }, spec: { vms: [{ ...aMachineOf(), users }] } };
  await expect(harness.kube.create(Workspace, lab)).rejects.toMatchObject(refused);
});

test('the keys of a whole team, many logins and the routes of a network are not', async () => {
  await create('team', {
    users: usersWith(
      1,
      Array.from({ length: 20 }, () => key(800)),
    ),
  });
  await create('class', { users: usersWith(50, [key(100)]) });
  await create('router', { interfaces: interfacesWith(2, 32) });
});
