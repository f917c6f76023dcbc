import { afterAll, beforeAll, expect, test } from 'vitest';
import provisionVm from '../../functions/provision-vm/index.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { controlledBy } from '../../shared/kubernetes/ownership.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';

/** The attacker runs code in provision-vm, which reads more of what tenants write than any other function, and has its token. */
let harness: FunctionHarness;
let stolen: Kube;
/** Owners that exist: Kubernetes deletes a Secret whose owner does not. */
let machine: VirtualMachine;
let map: ConfigMap;

const namespace = 'kube-system';
const data = { userdata: 'eA==' };
const ofMachine = () => ({ ownerReferences: [controlledBy(VirtualMachine, machine)] });
const ofMap = () => ({ ownerReferences: [controlledBy(ConfigMap, map)] });

beforeAll(async () => {
  harness = await serveFunction(provisionVm);
  const { kube, as } = harness;
  stolen = as({ namespace: operatorNamespace, name: provisionVm.name });
  if (!(await kube.get(Namespace, { name: namespace })))
    await kube.create(Namespace, { metadata: { name: namespace } });
  machine = await createMachine({ kube, namespace }, 'vm', 'ubuntu');
  map = await kube.create(ConfigMap, { metadata: { name: 'vm', namespace } });
});
afterAll(() => harness.close());

/** By the admission policy: RBAC answers 403. */
const refused = { status: 422 };

// Gained: a token of any ServiceAccount, with the right to read it: the whole cluster.
test.each(['token', 'vm-cloud-init'])(
  'provision-vm has Kubernetes make a token of another ServiceAccount: %s',
  async (name) => {
    const annotations = { 'kubernetes.io/service-account.name': 'clusterrole-aggregation-controller' };
    const metadata = { namespace, name, annotations, ...ofMachine() };
    const made = stolen.create(Secret, { metadata, type: 'kubernetes.io/service-account-token' });
    await expect(made).rejects.toMatchObject(refused);
  },
);

// Gained: what others trust: the certificate of a webhook or an ingress, a registry's login, another machine's passwords.
test.each([
  ['tls', () => ({})],
  ['tls', ofMachine],
  ['vm-cloud-init', () => ({})],
  ['vm-cloud-init', ofMap],
  ['another-cloud-init', ofMachine],
])("provision-vm makes or changes a Secret that is no machine's: %s", async (name, owner) => {
  const metadata = { namespace, name, ...owner() };
  await expect(stolen.create(Secret, { metadata, data })).rejects.toMatchObject(refused);
  const theirs = await harness.kube.create(Secret, { metadata, data });
  await expect(stolen.replace(Secret, { ...theirs, data: { userdata: 'eQ==' } })).rejects.toMatchObject(refused);
  const taken = { ...theirs, metadata: { ...theirs.metadata, ...ofMachine() } };
  await expect(stolen.replace(Secret, taken)).rejects.toMatchObject(refused);
  expect((await harness.kube.get(Secret, metadata))?.data).toEqual(data);
  await harness.kube.delete(Secret, metadata);
});

test('provision-vm deletes and lists no Secret', async () => {
  await expect(stolen.delete(Secret, { namespace, name: 'tls' })).rejects.toMatchObject({ status: 403 });
  await expect(stolen.list(Secret, { namespace })).rejects.toMatchObject({ status: 403 });
});

test('provision-vm writes the Secret of a machine, which may have another owner besides', async () => {
  const metadata = { namespace, name: 'vm-cloud-init', ...ofMachine() };
  const made = await stolen.create(Secret, { metadata, data, type: 'Opaque' });
  const ownerReferences = [...ofMachine().ownerReferences, { ...controlledBy(ConfigMap, map), controller: false }];
  const changed = { ...made, metadata: { ...made.metadata, ownerReferences }, data: { userdata: 'eQ==' } };
  expect((await stolen.replace(Secret, changed)).data).toEqual({ userdata: 'eQ==' });
});
