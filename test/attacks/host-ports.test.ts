import { afterAll, beforeAll, expect, test } from 'vitest';
import composeWorkspace from '../../functions/compose-workspace/index.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Workspace, type WorkspaceContainer } from '../../shared/kinds/pelotech/workspace.ts';
import { policyRef } from '../../shared/policy.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { type FunctionHarness, serveFunction } from '../support/harness/function-harness.ts';
import { anAuthorOfWorkspaces } from './attacker.ts';

let harness: FunctionHarness;
let mallory: Kube;

beforeAll(async () => {
  harness = await serveFunction(composeWorkspace);
  mallory = await anAuthorOfWorkspaces(harness);
});
afterAll(() => harness.close());

const reconcile = async (name: string) => {
  for (let times = 0; times < 4; times++) expect(await harness.changed(Workspace, { name })).toBe(202);
  const component = (await harness.kube.get(Workspace, { name }))?.status?.components?.find(
    (one) => one.name === 'app',
  );
  const deployment = await harness.kube.get(Deployment, { name: 'app', namespace: `ws-${name}` });
  return { component, deployment, pod: JSON.stringify(deployment?.spec) };
};

const labWith = async (name: string, container: Partial<WorkspaceContainer>) => {
  const containers = [{ name: 'app', image: 'example.org/app:1', ...container }];
  await mallory.create(Workspace, { metadata: { name }, spec: { containerClusters: [{ name: 'app', containers }] } });
  return reconcile(name);
};

const whenUp = async (name: string) => {
  const { deployment } = await reconcile(name);
  if (!deployment) throw new Error('expected a Deployment');
  const counts = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  const status = { ...counts, observedGeneration: deployment.metadata.generation };
  await harness.kube.patch(Deployment, deployment.metadata, { status }, { subresource: 'status' });
  return reconcile(name);
};

const setPolicy = (data: object) => harness.kube.patch(ConfigMap, policyRef, { data });

// Gained: the traffic of the node itself: kubelet's API, its ingress, its API server.
test('an author takes a port of the node', async () => {
  const portMappings = [10250, 443, 6443].map((port) => ({ containerPort: port, hostPort: port }));
  const { deployment, pod } = await labWith('taker', { portMappings });
  expect(deployment).toBeDefined();
  expect(pod).not.toContain('hostPort');
  expect((await whenUp('taker')).component).toMatchObject({
    phase: 'Ready',
    reason: 'HostPortNotAllowed',
    message: expect.stringMatching(/^[^\n]*without host ports 10250\/tcp, 443\/tcp, 6443\/tcp[^\n]*hostPorts[^\n]*$/),
  });
});

test('the policy opens a port of one protocol, and no other', async () => {
  await setPolicy({ hostPorts: '53/udp\n8443/tcp' });
  const portMappings = [
    { containerPort: 53, protocol: 'udp', hostPort: 53 },
    { containerPort: 53, protocol: 'tcp', hostPort: 53 },
    { containerPort: 443, hostPort: 8443 },
  ];
  const { deployment } = await labWith('dns', { portMappings });
  expect(deployment?.spec?.template).toMatchObject({
    spec: { containers: [{ ports: [{ protocol: 'UDP', hostPort: 53 }, { protocol: 'TCP' }, { hostPort: 8443 }] }] },
  });
  expect((await whenUp('dns')).component?.message).toContain('without host port 53/tcp');
  await setPolicy({ hostPorts: null });
  expect((await reconcile('dns')).pod).not.toContain('hostPort');
});

test.each(['honor', 'ignore', '*', '53', '0/udp', '65536/tcp', '53/udp\n*'])(
  'hostPorts: %j opens nothing',
  async (hostPorts) => {
    await setPolicy({ hostPorts });
    const name = `bad-${Buffer.from(hostPorts).toString('hex')}`;
    const { component, deployment } = await labWith(name, { portMappings: [{ containerPort: 53, hostPort: 53 }] });
    expect(deployment).toBeUndefined();
    expect(component).toMatchObject({ phase: 'Waiting', reason: 'InvalidPolicy' });
    await setPolicy({ hostPorts: null });
  },
);

// Gained: what the container's own network and files do not hold back: addresses of others, devices, files of any owner.
test.each([['NET_ADMIN'], ['NET_RAW'], ['DAC_OVERRIDE'], ['MKNOD'], ['SYS_ADMIN'], ['ALL']])(
  'an author adds the capability %s',
  async (capability) => {
    const name = `adds-${capability.toLowerCase().replace('_', '-')}`;
    const { component, deployment } = await labWith(name, { capabilities: { add: ['NET_BIND_SERVICE', capability] } });
    expect(deployment).toBeUndefined();
    expect(component).toMatchObject({
      phase: 'Failed',
      reason: 'CapabilityNotAllowed',
      message: expect.stringContaining(`workspaceCapabilities`),
    });
  },
);

// Gained: what a program with the setuid bit, or with capabilities in its file, gives a process that has none.
test('a process gains nothing over its parent, unless a capability was added for it', async () => {
  const securityOf = async (name: string, container: Partial<WorkspaceContainer>) =>
    (await labWith(name, container)).deployment?.spec?.template;
  expect(await securityOf('plain', {})).toMatchObject({
    spec: { containers: [{ securityContext: { privileged: false, allowPrivilegeEscalation: false } }] },
  });
  const capabilities = { drop: ['ALL'], add: ['NET_BIND_SERVICE'] };
  expect(await securityOf('binds', { capabilities })).toMatchObject({
    spec: { containers: [{ securityContext: { privileged: false, allowPrivilegeEscalation: true, capabilities } }] },
  });
});

test('who may edit the Deployment gives it no more than its Workspace has', async () => {
  const { deployment } = await labWith('edited', {});
  expect(deployment).toBeDefined();
  const containers = [{ name: 'app', image: 'example.org/app:1', securityContext: { privileged: false } }];
  const ref = { name: 'app', namespace: 'ws-edited' };
  await harness.kube.patch(Deployment, ref, {
    spec: { template: { spec: { containers, automountServiceAccountToken: null } } },
  });
  expect((await reconcile('edited')).deployment?.spec?.template).toMatchObject({
    spec: {
      automountServiceAccountToken: false,
      containers: [{ securityContext: { allowPrivilegeEscalation: false } }],
    },
  });
});
