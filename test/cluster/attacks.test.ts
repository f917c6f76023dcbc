import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll } from 'vitest';
import { type Kube, kubeClient } from '../../shared/runtime/kube.ts';
import type { Account } from '../attacks/attack.ts';
import { clearUpAttacks, declareAttacks, prepareAttacks } from '../attacks/declare-attacks.ts';
import { author, authorOfLabs } from '../attacks/rights-of-authors.ts';
import { admissionPoliciesObserved, prepare, removeFunctions } from './installation.ts';
import { kubectl, kubectlOrFail } from './kubectl.ts';
import { until } from './oidc-cluster.ts';
import { adminClient } from './world.ts';

// Without functions, so that nothing but Kubernetes refuses.

let kube: Kube;
beforeAll(async () => {
  kube = adminClient();
  await prepare();
  await removeFunctions();
  await prepareAttacks(kube);
  await admissionPoliciesObserved();
  // RBAC hears of new roles a moment after they are made.
  await until(
    'the rights of authors',
    async () => (await may(author, 'vmdiskimages')) && may(authorOfLabs, 'workspaces'),
  );
});
afterAll(() => clearUpAttacks(kube));

async function may({ namespace, name }: Account, plural: string): Promise<boolean> {
  const user = `--as=system:serviceaccount:${namespace}:${name}`;
  return (await kubectl('auth', 'can-i', 'create', `${plural}.pelotech.ot`, '--namespace', namespace, user)).code === 0;
}

async function clientOf({ namespace, name }: Account): Promise<Kube> {
  const token = (await kubectlOrFail('create', 'token', name, '--namespace', namespace)).trim();
  const admin = new KubeConfig();
  admin.loadFromDefault();
  const { currentContext, clusters, contexts } = admin;
  const config = new KubeConfig();
  const users = admin.users.map((user) => ({ name: user.name, token }));
  config.loadFromOptions({ clusters, contexts, currentContext, users });
  return kubeClient(config);
}

declareAttacks(() => ({ kube, as: clientOf }), { isReal: true });
