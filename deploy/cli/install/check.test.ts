import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { typed } from '../../../test/support/builders/install-options.ts';
import { startApiServer } from '../../local/api-server/api-server.ts';
import { clientOf } from '../../local/client.ts';
import { realClock } from '../../local/clock.ts';
import { readManifests } from '../../manifests.ts';
import { check, isMet } from './check.ts';
import type { Cluster } from './cluster.ts';
import {
  anyOf,
  Broker,
  ConfigMap,
  Definition,
  Deployment,
  KnativeService,
  Namespace,
  Service,
  StorageClass,
  StorageProfile,
  VolumeSnapshotClass,
} from './kinds.ts';
import { requirementLines } from './report.ts';
import { judged } from './requirement.ts';
import { deadIn } from './triggers.ts';

let server: Awaited<ReturnType<typeof startApiServer>>;
let cluster: Cluster;
let gitVersion = 'v1.34.4';
let platform = 'linux/amd64';
beforeAll(async () => {
  server = await startApiServer({ clock: realClock });
  const read = async () => ({ gitVersion, platform });
  cluster = { kube: clientOf(server), read, say: () => undefined, timeoutMs: 1000 };
});
afterAll(() => server.close());

/** A CustomResourceDefinition that serves the kind at a version, as its operator of that release would apply it. */
async function serve(plural: string, group: string, kind: string, version: string, release?: string) {
  const labels = release ? { 'app.kubernetes.io/version': release } : {};
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await cluster.kube.create(Definition, {
    metadata: { name: `${plural}.${group}`, labels },
    spec: {
      group,
      scope: /(Profile|Class)$/.test(kind) ? 'Cluster' : 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
}

const service = KnativeService.parse({ metadata: { name: 'start-sync', namespace: 'sync-operator' } });
const forMachines = await readManifests('knative/components/kubevirt');
const forNetworks = await readManifests('knative/components/kube-ovn');
const KubeVirt = anyOf('kubevirt.io/v1', 'KubeVirt');
const results = async (...wanted: Parameters<typeof check>[1]) =>
  Object.fromEntries((await check(cluster, wanted)).map(({ name, result }) => [name, result]));

describe('the check', () => {
  test('of an empty cluster finds everything missing, and Serving only where the overlay needs it', async () => {
    expect(await results()).toEqual({
      Kubernetes: 'ok',
      'Knative Eventing': 'missing',
      CDI: 'missing',
      'Volume snapshots': 'missing',
      'Storage classes': 'warning',
    });
    expect(await results(service)).toMatchObject({ 'Knative Serving': 'missing' });
  });
  test('says what was expected, what was found and what to do', async () => {
    const lines = requirementLines(await check(cluster, []));
    expect(lines.join('\n')).toMatch(/MISSING\s+CDI\s+1\.57 or later.*no datavolumes\.cdi\.kubevirt\.io at v1beta1/);
    expect(lines.join('\n')).toContain('CDI: install the Containerized Data Importer');
  });
  test('of a complete cluster is met; unknown versions are warnings', async () => {
    const eventing = 'eventing.knative.dev';
    await serve('brokers', eventing, 'Broker', 'v1', '1.20.0');
    await serve('triggers', eventing, 'Trigger', 'v1', '1.20.0');
    await serve('apiserversources', 'sources.knative.dev', 'ApiServerSource', 'v1', '1.20.0');
    await serve('pingsources', 'sources.knative.dev', 'PingSource', 'v1', '1.20.0');
    await serve('datavolumes', 'cdi.kubevirt.io', 'DataVolume', 'v1beta1');
    for (const kind of ['VolumeSnapshot', 'VolumeSnapshotContent'])
      await serve(`${kind.toLowerCase()}s`, 'snapshot.storage.k8s.io', kind, 'v1');
    await serve('volumesnapshotclasses', 'snapshot.storage.k8s.io', 'VolumeSnapshotClass', 'v1');
    await cluster.kube.create(StorageClass, { metadata: { name: 'gp3' }, provisioner: 'ebs' });
    expect(await results()).toEqual({
      Kubernetes: 'ok',
      'Knative Eventing': 'ok',
      CDI: 'warning',
      'Volume snapshots': 'ok',
      'Storage classes': 'warning',
    });
    expect(isMet(await check(cluster, []))).toBe(true);
  });
  test('of a local cluster asks for no version of what it simulates', async () => {
    platform = 'local';
    expect(await check(cluster, [])).toContainEqual(
      expect.objectContaining({ name: 'CDI', result: 'ok', found: 'simulated by npm start' }),
    );
    platform = 'linux/amd64';
  });
  test('of a class whose StorageProfile has no claimPropertySets warns, but only if its driver takes snapshots', async () => {
    await serve('storageprofiles', 'cdi.kubevirt.io', 'StorageProfile', 'v1beta1');
    await cluster.kube.create(VolumeSnapshotClass, { metadata: { name: 'ebs' }, driver: 'ebs' });
    await cluster.kube.create(StorageClass, { metadata: { name: 'scratch' }, provisioner: 'none' });
    for (const name of ['gp3', 'scratch'])
      await cluster.kube.create(StorageProfile, { metadata: { name }, status: {} });
    const found = await check(cluster, []);
    expect(found).toContainEqual(
      expect.objectContaining({ name: 'StorageProfiles', result: 'warning', found: 'none in gp3' }),
    );
    expect(requirementLines(found).join('\n')).toContain('kubectl patch storageprofile gp3 --type merge');
    const sets = [{ accessModes: ['ReadWriteOnce'], volumeMode: 'Block' }];
    await cluster.kube.patch(StorageProfile, { name: 'gp3' }, { status: { claimPropertySets: sets } });
    expect(await results()).not.toHaveProperty('StorageProfiles');
  });
  test('of a cluster without KubeVirt is met, and says that machines are left out; without machines it says nothing', async () => {
    const found = await check(cluster, forMachines);
    expect(found).toContainEqual(expect.objectContaining({ name: 'KubeVirt', result: 'optional' }));
    expect(isMet(found)).toBe(true);
    const lines = requirementLines(found).join('\n');
    expect(lines).toMatch(/left out\s+KubeVirt\s+1\.2 or later.*no virtualmachines, virtualmachineinstances/);
    expect(lines).toMatch(/KubeVirt: images do not need it.*ot-functions upgrade/);
    expect(await results()).not.toHaveProperty('KubeVirt');
  });
  test('of KubeVirt checks its version', async () => {
    await serve('virtualmachines', 'kubevirt.io', 'VirtualMachine', 'v1');
    await serve('virtualmachineinstances', 'kubevirt.io', 'VirtualMachineInstance', 'v1');
    expect(await results(...forMachines)).toMatchObject({ KubeVirt: 'warning' });
    await serve('kubevirts', 'kubevirt.io', 'KubeVirt', 'v1');
    const metadata = { name: 'kubevirt', namespace: 'default' };
    await cluster.kube.create(KubeVirt, { metadata, status: { observedKubeVirtVersion: 'v1.9.0' } });
    expect(await results(...forMachines)).toMatchObject({ KubeVirt: 'ok' });
    await cluster.kube.patch(KubeVirt, metadata, { status: { observedKubeVirtVersion: 'v1.1.1' } });
    expect(await results(...forMachines)).toMatchObject({ KubeVirt: 'missing' });
  });
  test('of a cluster without kube-ovn is met, and says what workspaces do instead', async () => {
    const found = await check(cluster, forNetworks);
    expect(isMet(found)).toBe(true);
    expect(requirementLines(found).join('\n')).toMatch(
      /left out\s+kube-ovn\s+.*no subnets, vpcs.*kube-ovn: without it workspaces use bridges/s,
    );
    await serve('subnets', 'kubeovn.io', 'Subnet', 'v1');
    expect(await results(...forNetworks)).toMatchObject({ 'kube-ovn': 'optional' });
    await serve('vpcs', 'kubeovn.io', 'Vpc', 'v1');
    expect(await results(...forNetworks)).toMatchObject({ 'kube-ovn': 'ok' });
    expect(await results()).not.toHaveProperty('kube-ovn');
  });
  test('of CRDs finds each that would lose a version in which objects are stored', async () => {
    const shipped = (name: string) =>
      Definition.parse({ metadata: { name }, spec: { versions: [{ name: 'v1alpha1' }] } });
    const names = ['virtualmachines.pelotech.ot', 'vmdiskimages.pelotech.ot'];
    for (const name of names) {
      const [plural = ''] = name.split('.');
      await serve(plural, 'pelotech.ot', plural, 'v1beta1');
      await cluster.kube.patch(
        Definition,
        { name },
        { status: { storedVersions: ['v1beta1'] } },
        { subresource: 'status' },
      );
    }
    const found = await results(...names.map(shipped));
    expect(found).toMatchObject(Object.fromEntries(names.map((name) => [name, 'missing'])));
  });
  test('of a Knative whose Trigger filters are switched off fails', async () => {
    await cluster.kube.create(Namespace, { metadata: { name: 'knative-eventing' } });
    const metadata = { namespace: 'knative-eventing', name: 'config-features' };
    await cluster.kube.create(ConfigMap, { metadata, data: { 'new-trigger-filters': 'disabled' } });
    expect(await results()).toMatchObject({ 'Trigger filters': 'missing' });
  });
  test('of a Kubernetes that is too old fails', async () => {
    gitVersion = 'v1.30.9';
    expect(await results()).toMatchObject({ Kubernetes: 'missing' });
  });
});

test.each([
  ['v1.31.0', 'ok'],
  ['1.31+', 'ok'],
  ['knative-v2.0.1', 'ok'],
  ['v1.30.99', 'missing'],
  ['devel', 'warning'],
  [undefined, 'warning'],
])('version %s against 1.31 is %s', (text, result) => {
  expect(judged({ name: 'x', expected: '1.31', remedy: '' }, [1, 31], text).result).toBe(result);
});

test('a subscriber is dead if no Subscription has its uid', () => {
  const channel = Definition.parse({ metadata: { name: 'x' }, spec: { subscribers: [{ uid: 'a' }, { uid: 'b' }] } });
  expect(deadIn(channel, new Set(['a']))).toEqual(['b']);
  expect(deadIn(undefined, new Set())).toEqual([]);
});

describe('a command line', () => {
  test('is read', () => {
    expect(typed('install', '--image', 'x', '--timeout', '90s')).toMatchObject({
      command: 'install',
      image: 'x',
      timeoutMs: 90_000,
      skipCheck: false,
    });
    expect(typed('uninstall', '--delete-images')).toMatchObject({
      deleteMachines: false,
      deleteImages: true,
      deleteCrds: false,
    });
    expect(typed('uninstall', '--delete-machines')).toMatchObject({
      deleteMachines: true,
      deleteImages: false,
    });
    expect(typed('uninstall', '--delete-workspaces')).toMatchObject({
      deleteWorkspaces: true,
      deleteMachines: false,
    });
    const lines = ['https://s3.example.com/images/** s3-reader', 'https://images.example.com/**'];
    expect(typed('install', ...lines.flatMap((line) => ['--allow-source', line]))).toMatchObject({
      allowSource: lines,
    });
    expect(() => typed('install', '--allow-source', '*')).toThrow('--allow-source: expected a URL with *');
  });
  test.each([
    ['check', '--delete-crds', '--delete-crds'],
    ['install', '--timeout=soon', 'expected a time such as 90s or 5m, found soon'],
  ] as const)('of %s with %s is refused with what was expected', (command, option, message) => {
    expect(() => typed(command, option)).toThrow(message);
  });
});

describe("Kafka's Broker", () => {
  const broker = Broker.parse({
    metadata: {
      name: 'default',
      namespace: 'sync-operator',
      annotations: { 'eventing.knative.dev/broker.class': 'Kafka' },
    },
  });
  const settings = (servers: string) =>
    ConfigMap.parse({
      metadata: { name: 'sync-operator-kafka', namespace: 'sync-operator' },
      data: { 'bootstrap.servers': servers },
    });
  const judged = async (servers: string) => {
    const found = await check(cluster, [broker, settings(servers)]);
    return found.find(({ name }) => name === "Kafka's Broker");
  };
  const example = 'my-cluster-kafka-bootstrap.kafka:9092';

  test('is asked for only with that class, and needs its controller, its ingress and the address of a Kafka', async () => {
    expect(await results()).not.toHaveProperty("Kafka's Broker");
    expect(await judged('mine:9092')).toMatchObject({
      result: 'missing',
      found: 'no Deployment kafka-controller, no Service kafka-broker-ingress',
    });
    const place = { namespace: 'knative-eventing' };
    for (const namespace of ['knative-eventing', 'kafka'])
      await cluster.kube.create(Namespace, { metadata: { name: namespace } }).catch(() => undefined);
    const spec = { ports: [{ port: 80 }] };
    const labels = { app: 'kafka-controller' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const controller = { selector: { matchLabels: labels }, template };
    await cluster.kube.create(Deployment, { metadata: { ...place, name: 'kafka-controller' }, spec: controller });
    await cluster.kube.create(Service, { metadata: { ...place, name: 'kafka-broker-ingress' }, spec });
    expect(await judged('')).toMatchObject({ result: 'missing', found: 'no bootstrap.servers' });
    expect(await judged('mine:9092')).toMatchObject({ result: 'ok', found: 'mine:9092' });
    expect(await judged(example)).toMatchObject({
      result: 'missing',
      found: `the example ${example}, which does not exist`,
    });
    await cluster.kube.create(Service, { metadata: { namespace: 'kafka', name: 'my-cluster-kafka-bootstrap' }, spec });
    expect(await judged(example)).toMatchObject({ result: 'ok' });
  });
});
