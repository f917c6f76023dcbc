import { Namespace } from '../../shared/kinds/core/namespace.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { allow, type Rule, ServiceAccount } from '../support/builders/access.ts';
import type { FunctionHarness } from '../support/harness/function-harness.ts';

const write = ['get', 'list', 'create', 'update', 'patch', 'delete'];

/** What each author of machines may do. */
export const mayMakeMachines: Rule = { apiGroups: ['pelotech.ot'], resources: ['virtualmachines'], verbs: write };

/** What CDI gives to the role `edit`. */
export const mayMakeDataVolumes: Rule = { apiGroups: ['cdi.kubevirt.io'], resources: ['datavolumes'], verbs: write };

const account = { name: 'mallory', namespace: 'default' };

/** What each author of Workspaces may do. */
export const mayMakeWorkspaces: Rule = { apiGroups: ['pelotech.ot'], resources: ['workspaces'], verbs: write };

/** The client of a ServiceAccount that may make Workspaces, which have no namespace, and nothing else. */
export async function anAuthorOfWorkspaces({ kube, as }: FunctionHarness): Promise<Kube> {
  await kube.create(ServiceAccount, { metadata: account });
  await allow(kube, account, { name: 'workspace-authors' }, [mayMakeWorkspaces]);
  return as(account);
}

export const mayReadSecretsIn = ({ kube }: FunctionHarness, namespace: string): Promise<void> =>
  allow(kube, account, { name: 'authors-read', namespace }, [
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] },
  ]);

/** The client of a ServiceAccount that may do this in a namespace of its own, and nothing anywhere else. */
export async function anAttacker(
  { kube, as }: FunctionHarness,
  namespace: string,
  rules: readonly Rule[],
): Promise<Kube> {
  const metadata = { name: 'mallory', namespace };
  await kube.create(Namespace, { metadata: { name: namespace } });
  await kube.create(ServiceAccount, { metadata });
  await allow(kube, metadata, metadata, rules);
  return as(metadata);
}
