import { afterAll, beforeAll, expect, test } from 'vitest';
import { NetworkAttachmentDefinition } from '../../../shared/kinds/cni/network-attachment-definition.ts';
import { type TestCluster, testCluster } from '../cdi/test-cluster.ts';
import { realClock } from '../clock.ts';
import { VirtualMachine, VirtualMachineInstance } from './kinds.ts';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await testCluster(realClock);
});
afterAll(() => cluster.close());

const at = { namespace: 'default', name: 'pc' };
const metadata = at;
const devices = { disks: [{ name: 'root', disk: { bus: 'virtio' } }], rng: {} };

test('a machine needs its devices, and keeps what only KubeVirt reads', async () => {
  const make = (domain: object) =>
    cluster.kube.create(VirtualMachine, { metadata, spec: { runStrategy: 'Halted', template: { spec: { domain } } } });
  await expect(make({})).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('devices: Required value'),
  });
  const made = await make({ devices });
  expect(made.spec.template.spec.domain.devices).toEqual(devices);
});

test('a machine’s status is a subresource, and is Stopped by default', async () => {
  const after = await cluster.kube.patch(VirtualMachine, at, { status: { created: false } }, { subresource: 'status' });
  expect(after).toMatchObject({ metadata: { generation: 1 }, status: { printableStatus: 'Stopped' } });
});

test('an instance’s status is written with it', async () => {
  await cluster.kube.create(VirtualMachineInstance, { metadata, spec: { domain: { devices } } });
  await expect(
    cluster.kube.patch(VirtualMachineInstance, at, { status: { phase: 'Pending' } }, { subresource: 'status' }),
  ).rejects.toMatchObject({ status: 404 });
  const written = await cluster.kube.patch(VirtualMachineInstance, at, { status: { phase: 'Pending' } });
  expect(written.status?.phase).toBe('Pending');
});

test('a network is a text of JSON', async () => {
  const spec = { config: '{"cniVersion":"0.3.1","type":"bridge"}' };
  const made = await cluster.kube.create(NetworkAttachmentDefinition, { metadata: { ...at, name: 'lan' }, spec });
  expect(made).toMatchObject({ spec });
});

test('tables have KubeVirt’s columns', async () => {
  const columnsOf = async (plural: string) => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const path = `/apis/kubevirt.io/v1/namespaces/default/${plural}`;
    const answer = await fetch(cluster.server.url + path, { headers: { accept } });
    const { columnDefinitions } = (await answer.json()) as { columnDefinitions: { name: string; priority: number }[] };
    return columnDefinitions.map(({ name, priority }) => (priority > 0 ? `(${name})` : name)).join(' ');
  };
  expect(await columnsOf('virtualmachines')).toBe('Name Age Status Ready');
  expect(await columnsOf('virtualmachineinstances')).toBe(
    'Name Age Phase IP NodeName Ready (Live-Migratable) (Paused)',
  );
});
