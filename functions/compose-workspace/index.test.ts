import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CustomResourceDefinition } from '../../deploy/local/controller/kinds.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Service } from '../../shared/kinds/core/service.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyName } from '../../shared/policy.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';
import { subnetName } from '../../shared/workspaces/workspace.ts';
import { aVMDiskImage, noClouds } from '../../test/support/builders/images.ts';
import { aClusterOf, aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { createImage } from '../../test/support/harness/create.ts';
import { serveFunction } from '../../test/support/harness/function-harness.ts';
import declaration from './index.ts';
import { roleBindingName } from './namespace/plan.ts';

const harness = await serveFunction(declaration);
const { kube } = harness;
afterAll(harness.close);

for (const { kind, plural } of [Vpc, Subnet]) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }];
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const metadata = { name: `${plural}.kubeovn.io` };
  if (await kube.get(CustomResourceDefinition, metadata)) continue;
  await kube.create(CustomResourceDefinition, {
    metadata,
    spec: { group: 'kubeovn.io', scope: 'Cluster', names, versions },
  });
}
const served = async (resource: Resource) => {
  for (let tries = 0; tries < 50; tries++) {
    if (
      await kube.list(resource).then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
await served(Subnet);

type Spec = Workspace['spec'];

const image = (name: string, phase: 'Queued' | 'Succeeded' = 'Succeeded') =>
  createImage(kube, name, { status: { phase } });

async function workspace(name: string, spec: Spec) {
  await kube.create(Workspace, { metadata: { name }, spec });
  return { name };
}

const look = async ({ name }: { name: string }) => {
  expect(await harness.changed(Workspace, { name })).toBe(202);
  return (await kube.get(Workspace, { name }))?.status;
};
const namesIn = async (resource: Resource, namespace: string) =>
  (await kube.list(resource, { namespace })).map(({ metadata }) => metadata.name).sort();

const network = { name: 'net', cidr: '10.10.0.0/24' };
const whole: Spec = {
  vms: [aMachineOf({ interfaces: [{ network: 'net', ipAddress: '10.10.0.5/24' }] })],
  containerClusters: [
    aClusterOf({
      interfaces: [{ network: 'net', ipAddress: '10.10.0.6/24' }],
      containers: [
        {
          name: 'app',
          image: 'example.org/app:1',
          resources: { cpu: '128m', memory: '2048Mi' },
          portMappings: [{ containerPort: 53, protocol: 'udp' }],
          volumeMounts: [{ name: 'data', containerPath: '/data', readOnly: true }],
        },
      ],
    }),
  ],
  volumes: [{ name: 'data', size: '1Gi', localPath: '/here' }],
  networks: [network],
};

/** What kube-ovn, storage, KubeVirt's side and Kubernetes would say once all is well. */
async function play(name: string) {
  const namespace = `ws-${name}`;
  const asStatus = { subresource: 'status' } as const;
  for (const subnet of await kube.list(Subnet)) {
    if (!subnet.metadata.name.startsWith(`${namespace}-`)) continue;
    const conditions = [{ type: 'Ready', status: 'True' }];
    await kube.patch(Subnet, subnet.metadata, { status: { conditions } }, asStatus);
  }
  for (const { metadata } of await kube.list(PersistentVolumeClaim, { namespace }))
    await kube.patch(PersistentVolumeClaim, metadata, { status: { phase: 'Bound' } }, asStatus);
  for (const { metadata } of await kube.list(VirtualMachine, { namespace })) {
    const status = { phase: 'Ready', message: 'Running.', observedGeneration: metadata.generation };
    await kube.patch(VirtualMachine, metadata, { status }, asStatus);
  }
  for (const { metadata, spec } of await kube.list(Deployment, { namespace })) {
    const all = spec?.replicas ?? 1;
    const counts = { replicas: all, updatedReplicas: all, availableReplicas: all };
    await kube.patch(
      Deployment,
      metadata,
      { status: { ...counts, observedGeneration: metadata.generation } },
      asStatus,
    );
  }
}

async function untilReady(ref: { name: string }) {
  for (let round = 0; round < 4; round++) {
    await look(ref);
    await play(ref.name);
  }
  return look(ref);
}

test("the seed's own manifest applies as it stands, and waits for its image", async () => {
  const text = await readFile(new URL('../../crds/examples/workspace.yaml', import.meta.url), 'utf8');
  await kube.create(Workspace, parse(text));
  const status = await look({ name: 'demo-workspace-1' });
  expect(status?.phase).toBe('Provisioning');
  expect(conditionOf(status?.conditions, 'SpecValid')?.status).toBe('True');
  expect(conditionOf(status?.conditions, 'VMDiskImagesReady')?.reason).toBe('ImageMissing');
  expect(await kube.get(Namespace, { name: 'ws-demo-workspace-1' })).toBeDefined();
  expect(await kube.list(Deployment, { namespace: 'ws-demo-workspace-1' })).toEqual([]);
});

test('once its image exists everything is made, and it becomes Ready with its components', async () => {
  await image('ubuntu', 'Queued');
  const ref = await workspace('whole', whole);
  expect(await look(ref)).toMatchObject({ phase: 'Provisioning', ready: '1/6' });
  expect(await namesIn(NetworkPolicy, 'ws-whole')).toEqual(['ws-deny-all']);
  expect(await namesIn(PersistentVolumeClaim, 'ws-whole')).toEqual([]);
  const done = { status: { phase: 'Succeeded' } };
  await kube.patch(VMDiskImage, { name: 'ubuntu', namespace: 'vmdi-farm' }, done, { subresource: 'status' });
  const status = await untilReady(ref);
  expect(status).toMatchObject({ phase: 'Ready', ready: '6/6' });
  expect(await kube.get(Subnet, { name: subnetName('whole', 'net') })).toMatchObject({
    spec: { vpc: 'ws-whole', cidrBlock: '10.10.0.0/24', gateway: '10.10.0.254', provider: 'net.ws-whole.ovn' },
  });
  expect(await namesIn(NetworkAttachmentDefinition, 'ws-whole')).toEqual(['net']);
  expect(await namesIn(Service, 'ws-whole')).toEqual(['app']);
  expect((await kube.get(VirtualMachine, { namespace: 'ws-whole', name: 'vm' }))?.spec).toMatchObject({
    vmDiskImageRef: { name: 'ubuntu', namespace: 'vmdi-farm' },
    interfaces: [{ network: 'net', ipAddress: '10.10.0.5/24' }],
  });
  expect(harness.published.map(({ type }) => type)).toContain('ot.pelotech.workspace.ready.v1');
});

test('the same event again writes nothing', async () => {
  const before = await kube.get(Workspace, { name: 'whole' });
  const deployments = await kube.list(Deployment, { namespace: 'ws-whole' });
  await look({ name: 'whole' });
  expect(await kube.get(Workspace, { name: 'whole' })).toEqual(before);
  expect(await kube.list(Deployment, { namespace: 'ws-whole' })).toEqual(deployments);
});

test('a component that was deleted or edited comes back', async () => {
  const app = { namespace: 'ws-whole', name: 'app' };
  await kube.delete(Service, app);
  await kube.delete(NetworkPolicy, { namespace: 'ws-whole', name: 'ws-deny-all' });
  await kube.patch(Deployment, app, { spec: { replicas: 3 } });
  await look({ name: 'whole' });
  expect(await kube.get(Service, app)).toBeDefined();
  expect(await namesIn(NetworkPolicy, 'ws-whole')).toEqual(['ws-deny-all']);
  expect((await kube.get(Deployment, app))?.spec?.replicas).toBe(1);
});

test('a RoleBinding that a user edited is repaired, and the rest is done when it is effective again', async () => {
  const right = { namespace: 'ws-whole', name: roleBindingName };
  await kube.patch(RoleBinding, right, { subjects: [] });
  await kube.delete(Service, { namespace: 'ws-whole', name: 'app' });
  expect(await harness.changed(Workspace, { name: 'whole' })).toBe(503);
  expect((await kube.get(RoleBinding, right))?.subjects).toHaveLength(1);
  expect((await kube.get(Workspace, { name: 'whole' }))?.status).toMatchObject({ phase: 'Provisioning' });
  expect(await untilReady({ name: 'whole' })).toMatchObject({ phase: 'Ready' });
  expect(await namesIn(Service, 'ws-whole')).toEqual(['app']);
});

test('networks stay with who made them, though the status that said so was lost and the policy is another', async () => {
  const later = harness.another((all) => ({
    ...all,
    get: async (resource, ref) =>
      ref.name === policyName
        ? resource.parse({ metadata: ref, data: { networkProvider: 'bridge' } })
        : all.get(resource, ref),
  }));
  await kube.patch(Workspace, { name: 'whole' }, { status: { networkProvider: null } }, { subresource: 'status' });
  expect(await later.changed(Workspace, { name: 'whole' })).toBe(202);
  expect((await kube.get(Workspace, { name: 'whole' }))?.status?.networkProvider).toBe('kube-ovn');
  expect(await namesIn(NetworkAttachmentDefinition, 'ws-whole')).toEqual(['net']);
});

test('a workspace that cannot be read holds up no other, and is asked for again', async () => {
  await kube.delete(Service, { namespace: 'ws-whole', name: 'app' });
  const half = harness.another((all) => ({
    ...all,
    list: (resource, options) =>
      options?.namespace === 'ws-demo-workspace-1'
        ? Promise.reject(new ApiError(500, 'InternalError', 'out of order'))
        : all.list(resource, options),
  }));
  expect(await half.audit()).toBe(503);
  expect(await namesIn(Service, 'ws-whole')).toEqual(['app']);
});

test('a sweep looks at those under way, and reads nothing of the others', async () => {
  const read: string[] = [];
  const watched = harness.another((all) => ({
    ...all,
    list: (resource, options) => {
      read.push(options?.namespace ?? '');
      return all.list(resource, options);
    },
  }));
  await untilReady({ name: 'whole' });
  await workspace('new', {});
  expect(await watched.sweep()).toBe(202);
  expect((await kube.get(Workspace, { name: 'new' }))?.status).toMatchObject({ phase: 'Ready' });
  expect(read).toContain('ws-demo-workspace-1');
  expect(read).not.toContain('ws-whole');
  await kube.patch(Workspace, { name: 'new' }, { spec: { volumes: [{ name: 'data', size: '1Gi' }] } });
  await watched.sweep();
  expect(await namesIn(PersistentVolumeClaim, 'ws-new')).toEqual(['data']);
  await kube.delete(Workspace, { name: 'new' });
  for (let round = 0; round < 4; round++) await watched.sweep();
  expect(await kube.get(Workspace, { name: 'new' })).toBeUndefined();
});

test('of very many under way a sweep looks at some, and the next at the others', async () => {
  const labs = Array.from({ length: 150 }, (_, index) => aWorkspace({ name: `lab-${index}` }));
  const many = {
    get: async () => undefined,
    list: async () => [],
    pages: async function* () {
      yield { items: labs as never[], resourceVersion: '1' };
    },
  };
  const batch = { subjects: [], messages: [], sweep: true, audit: false };
  const seen = async (nowMs: number) => {
    const rows = await declaration.observe(
      { kube: many, nowMs, refusals: new Map(), openClouds: noClouds, gracePeriodMs: 0 },
      batch,
    );
    return rows.map((row) => (isUnreadable(row) ? 'unreadable' : row.workspace.metadata.name));
  };
  const [one, other] = [await seen(0), await seen(30_000)];
  expect([one.length, other.length]).toEqual([100, 50]);
  expect(new Set([...one, ...other]).size).toBe(150);
});

test('a component that is no longer wanted is deleted, and a network only when it has no users', async () => {
  await kube.patch(
    Workspace,
    { name: 'whole' },
    { spec: { containerClusters: [], volumes: [], networks: [], vms: [] } },
  );
  const status = await look({ name: 'whole' });
  expect(await namesIn(Deployment, 'ws-whole')).toEqual([]);
  expect(conditionOf(status?.conditions, 'NetworksReady')).toMatchObject({ status: 'False', reason: 'NetworkInUse' });
  expect(await look({ name: 'whole' })).toMatchObject({ phase: 'Ready' });
  await look({ name: 'whole' });
  expect(await namesIn(NetworkAttachmentDefinition, 'ws-whole')).toEqual([]);
  expect(await kube.get(Vpc, { name: 'ws-whole' })).toBeUndefined();
});

test('all faults of a spec are reported together, and nothing is made', async () => {
  const ref = await workspace('faulty', {
    ...whole,
    containerClusters: [aClusterOf({ name: 'vm', interfaces: [{ network: 'net', ipAddress: '10.10.0.5/24' }] })],
    networks: [{ ...network, rangeGateway: '10.10.1.1' }],
  });
  const status = await look(ref);
  const valid = conditionOf(status?.conditions, 'SpecValid');
  expect(status?.phase).toBe('Failed');
  expect(valid?.message).toContain('expected a name that no machine has, found vm');
  expect(valid?.message).toContain('found 10.10.0.5 at vms vm and containerClusters vm');
  expect(valid?.message).toContain('rangeGateway: expected an address in the network, found 10.10.1.1');
  expect(await kube.get(Namespace, { name: 'ws-faulty' })).toBeUndefined();
});

test('an object of another owner is left alone and reported', async () => {
  await kube.create(Namespace, { metadata: { name: 'ws-taken' } });
  const status = await look(await workspace('taken', whole));
  expect(status).toMatchObject({ phase: 'Failed' });
  expect(status?.message).toContain("Expected Namespace ws-taken to be the workspace's own");
  expect((await kube.get(Namespace, { name: 'ws-taken' }))?.metadata.labels).not.toHaveProperty(
    'pelotech.ot/workspace',
  );
});

test('a missing image is made from the template, labelled as made for workspaces', async () => {
  const template = aVMDiskImage().spec;
  await look(
    await workspace('maker', { vms: [aMachineOf({ backingVMDiskImage: 'fresh', vmDiskImageTemplate: template })] }),
  );
  expect(await kube.get(VMDiskImage, { name: 'fresh', namespace: 'vmdi-farm' })).toMatchObject({
    metadata: { finalizers: ['pelotech.ot/disk-image'], labels: { 'pelotech.ot/made-for': 'workspaces' } },
    spec: template,
  });
});

test('a deleted workspace takes everything with it, step by step', async () => {
  const ref = await workspace('goes', whole);
  expect(await untilReady(ref)).toMatchObject({ phase: 'Ready' });
  await kube.patch(
    PersistentVolumeClaim,
    { namespace: 'ws-goes', name: 'data' },
    { metadata: { finalizers: ['example.org/held'] } },
  );
  await kube.delete(Workspace, ref);
  await look(ref);
  expect(await namesIn(Deployment, 'ws-goes')).toEqual([]);
  const stuck = (await look(ref)) ?? (await look(ref));
  expect(stuck?.message).toContain('PersistentVolumeClaim ws-goes/data is being deleted, held by example.org/held');
  expect(await kube.get(Subnet, { name: subnetName('goes', 'net') })).toBeDefined();
  await kube.patch(PersistentVolumeClaim, { namespace: 'ws-goes', name: 'data' }, { metadata: { finalizers: null } });
  for (let round = 0; round < 8; round++) {
    await look(ref);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await kube.get(Workspace, ref)).toBeUndefined();
  expect(await kube.get(Namespace, { name: 'ws-goes' })).toBeUndefined();
  expect(await kube.get(Vpc, { name: 'ws-goes' })).toBeUndefined();
});
