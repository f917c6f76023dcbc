import { afterAll, expect } from 'vitest';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import type { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import type { VirtualNetwork } from '../../../shared/kinds/kupenstack/virtual-network.ts';
import type { Volume } from '../../../shared/kinds/kupenstack/volume.ts';
import type { Resource } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { heardWhile } from '../tools/captured-output.ts';
import { anAccount, type Process, secretFor, serveOnOpenStack, stageMs } from './openstack-harness.ts';

type Kind = KupenStackMachine | VirtualNetwork | Volume;

/** A function on OpenStack and the kind it is about, in namespaces `red` and `blue`, each with an account of its own. */
export async function withTwoAccounts<Observed, T extends Kind>(
  declaration: FunctionDeclaration<Observed>,
  resource: Resource<T>,
  specOf: (name: string) => object = () => ({}),
) {
  const harness = await serveOnOpenStack(declaration);
  afterAll(harness.close);
  const { kube, clock, openStack } = harness;
  const [red, blue] = [await anAccount(openStack, clock.now, 'red'), await anAccount(openStack, clock.now, 'blue')];
  await harness.namespace('red', red);
  await harness.namespace('blue', blue);

  const create = (namespace: string, name: string, spec = {}) => {
    const { apiVersion, kind } = resource;
    return kube.create(resource, {
      apiVersion,
      kind,
      metadata: { namespace, name },
      spec: { ...specOf(name), ...spec },
    });
  };
  const statusOf = async (namespace: string, name: string) =>
    (await kube.get(resource, { namespace, name }))?.status as T['status'];
  return {
    ...harness,
    red,
    blue,
    create,
    statusOf,
    reasonOf: async (namespace: string, name: string) =>
      conditionOf((await statusOf(namespace, name))?.conditions, 'Ready')?.reason,
    /** Reconciles until nothing changes any more. */
    settle: async (process: Process, namespace: string, name: string) => {
      for (let reconciles = 0; reconciles < 6; reconciles++) {
        await process.changed(resource, { namespace, name });
        clock.step(10 * stageMs);
      }
    },
    /** No action, log or span of an audit has the credentials, also while that request fails; `grey` has the password "wrong". */
    expectSecrecy: async (operation: string) => {
      await create('red', 'secret');
      const process = harness.begin();
      const heard = await heardWhile(async () => {
        await process.audit();
        openStack.failNext(operation, 500, 2);
        await process.audit();
        return process.actions;
      });
      expect(process.actions.length).toBeGreaterThan(0);
      expect(heard).toContain(`openstack ${operation}`);
      for (const account of [red, blue]) expect(heard).not.toContain(account.password);
      expect(heard).not.toContain('wrong');
      expect(heard).not.toContain(secretFor(red, {}).data?.['clouds.yaml']);
    },
  };
}
