import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { facts } from '../../shared/events.ts';
import { hasKubectl } from '../../test/stories/local-world.ts';
import { findHelm } from '../../test/support/tools/go/tools.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

// A helm that was built from its Go module reports a very old Kubernetes.
const template = ['template', 'ot-functions', 'deploy/production/chart', '--kube-version', '1.34.0'];
const production = ['--values', 'deploy/production/chart/values-production.yaml'];

const { path: helm, ...none } = await findHelm();
const missing = none.missing ?? ((await hasKubectl()) ? undefined : 'expected kubectl on the PATH, found none');
if (missing) console.log(`skipped: the Helm chart is not rendered: ${missing}`);

describe.skipIf(missing)('the Helm chart', () => {
  test.each([
    { set: 'the default values', values: [] },
    { set: 'the values of production', values: production },
  ])('has nothing that helm lint warns of, with $set', async ({ values }) => {
    const { stdout } = await run(helm, ['lint', 'deploy/production/chart', ...values], { cwd: root });
    expect(stdout).toMatch(/1 chart\(s\) linted, 0 chart\(s\) failed/);
    expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  test('of workspaces, deploy/lab-chart, renders a Workspace whose spec is the values', async () => {
    const example = await readFile(new URL('../../crds/examples/workspace.yaml', import.meta.url), 'utf8');
    const folder = await mkdtemp(join(tmpdir(), 'ot-lab-chart-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const values = join(folder, 'lab.yaml');
    await writeFile(values, stringify({ ...parse(example).spec, global: {} }));
    const args = ['template', 'demo-workspace-1', 'deploy/lab-chart', '--values', values];
    expect(parse((await run(helm, args, { cwd: root })).stdout)).toEqual(parse(example));
    const { stdout } = await run(helm, ['lint', 'deploy/lab-chart', '--values', values], { cwd: root });
    expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  });

  test('has a Job before a release is deleted and one after an upgrade or a rollback, with the image and what each needs', async () => {
    const set = 'image.repository=example.com/f,image.tag=v2,nodeSelector.disk=fast,imagePullSecrets[0].name=pull';
    const { stdout } = await run(helm, [...template, '--namespace', 'sync-operator', '--set', set], {
      cwd: root,
      ...large,
    });
    const hooks = documentsIn(stdout).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']);
    const jobs = hooks.filter(({ kind }) => kind === 'Job');
    expect(jobs.map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])).toEqual([
      'pre-delete',
      'post-upgrade,post-rollback',
      'test',
    ]);
    for (const [index, program] of ['pre-delete', 'post-upgrade', 'helm-test'].entries()) {
      const pod = podIn(jobs[index] ?? {});
      expect(pod).toMatchObject({
        serviceAccountName: 'helm-hooks',
        nodeSelector: { disk: 'fast' },
        imagePullSecrets: [{ name: 'pull' }],
        containers: [{ image: 'example.com/f:v2', args: [program] }],
      });
    }
    expect(hooks.map(({ kind }) => kind).sort()).toEqual([
      'ClusterRole',
      'ClusterRoleBinding',
      'Job',
      'Job',
      'Job',
      'NetworkPolicy',
      'Role',
      'RoleBinding',
      'ServiceAccount',
    ]);
    const off = await run(helm, [...template, '--namespace', 'sync-operator', '--set', 'hooks.enabled=false'], {
      cwd: root,
      ...large,
    });
    expect(off.stdout).not.toContain('helm.sh/hook');
  });

  test('renders knative/serving by default', async () => {
    expect(await rendered()).toEqual(await kustomized('knative/serving'));
  });

  test('renders knative/deployments with the other overlay', async () => {
    expect(await rendered('--set', 'overlay=deployments')).toEqual(await kustomized('knative/deployments'));
  });

  test.each(['serving', 'deployments'])(
    'renders deploy/production/%s with the values of production',
    async (overlay) => {
      expect(await rendered(...production, '--set', `overlay=${overlay}`)).toEqual(
        await kustomized(`deploy/production/${overlay}`),
      );
    },
  );

  test.each(['serving', 'deployments'])(
    'renders deploy/production/%s-openstack with openstack.enabled',
    async (overlay) => {
      expect(await rendered(...production, '--set', `overlay=${overlay},openstack.enabled=true`)).toEqual(
        await kustomized(`deploy/production/${overlay}-openstack`),
      );
    },
  );

  test('fills in what else people set of Pods, and objects of theirs', async () => {
    const values = join(await mkdtemp(join(tmpdir(), 'ot-chart-')), 'values.yaml');
    onTestFinished(() => rm(join(values, '..'), { recursive: true }));
    const set = {
      affinity: { nodeAffinity: {} },
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
      priorityClassName: 'high',
      podAnnotations: { 'example.com/a': 'b' },
      podLabels: { team: 'labs' },
      serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn' } },
      extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-more' } }],
    };
    await writeFile(values, stringify(set));
    for (const overlay of ['serving', 'deployments']) {
      const found = await rendered('--values', values, '--set', `overlay=${overlay}`);
      expect(found['ConfigMap ot-functions-more']).toBeDefined();
      expect(found['ServiceAccount start-sync']).toMatchObject({ metadata: set.serviceAccount });
      const { affinity, topologySpreadConstraints, priorityClassName, podAnnotations, podLabels } = set;
      const template = (found[`${overlay === 'serving' ? 'Service' : 'Deployment'} start-sync`] as Templated).spec
        .template;
      expect(template).toMatchObject({
        metadata: { annotations: podAnnotations, labels: podLabels },
        spec: { affinity, topologySpreadConstraints, priorityClassName },
      });
    }
  });

  test('renders deploy/production/serving-kafka with the values of production and Kafka', async () => {
    const kafka = ['broker.class=Kafka', 'broker.kafka.bootstrapServers=my-cluster-kafka-bootstrap.kafka:9092'];
    expect(await rendered(...production, '--set', kafka.join(','))).toEqual(
      await kustomized('deploy/production/serving-kafka'),
    );
  });

  test.each([
    { value: 'console.enabled', folder: 'deploy/production/console' },
    { value: 'alerts.enabled', folder: 'deploy/monitoring' },
  ])('adds $folder with $value', async ({ value, folder }) => {
    const plain = await rendered();
    const found = await rendered('--set', `${value}=true`);
    const added = Object.fromEntries(Object.entries(found).filter(([name]) => !(name in plain)));
    expect(Object.keys(found)).toHaveLength(Object.keys(plain).length + Object.keys(added).length);
    const held = Object.entries(await heldBy(folder)).filter(([name]) => !isDashboards.test(name));
    expect(added).toEqual(Object.fromEntries(held));
  });

  test('labels PodMonitor and PrometheusRule as a Prometheus operator selects them', async () => {
    const found = await rendered('--set', 'alerts.enabled=true,alerts.labels.release=stack,alerts.labels.team=labs');
    for (const name of ['PodMonitor ot-functions', 'PrometheusRule ot-functions']) {
      expect(found[name]).toMatchObject({
        metadata: { labels: { 'app.kubernetes.io/part-of': 'ot-functions', release: 'stack', team: 'labs' } },
      });
    }
  });

  test('fills in the settings of the console', async () => {
    const set = [
      'console.enabled=true,image.repository=example.com/f,nodeSelector.disk=fast',
      'otlpEndpoint=http://c:4318,networkPolicies.monitoringNamespace=watch',
    ];
    const found = await rendered('--set', set.join(','));
    expect(JSON.stringify(found['NetworkPolicy console'])).toContain('"kubernetes.io/metadata.name":"watch"');
    const pod = podIn(found['Deployment console'] ?? {});
    expect(pod).toMatchObject({
      nodeSelector: { disk: 'fast' },
      containers: [{ image: 'example.com/f', env: [{ name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://c:4318' }] }],
    });
  });

  test.each([
    {
      set: ['timers.sweep=*/10 * * * * *'],
      changes: ['images', 'inspection', 'workspaces'].map((system) => `PingSource ${system}-sweep`),
    },
    { set: ['sources.snapshotter=false'], changes: [], leavesOut: ofSource('images', 'snapshotter') },
    { set: ['sources.kubeOvn=false'], changes: [], leavesOut: ofSource('workspaces', 'kube-ovn') },
    {
      set: ['sources.kubevirt=false'],
      changes: [],
      leavesOut: [
        ...ofSource('machines', 'kubevirt'),
        'ApiServerSource machines-cdi',
        ...['ClusterRole', 'ClusterRoleBinding'].map((kind) => `${kind} sync-operator-provision-vm`),
        ...['Role', 'RoleBinding', 'Service', 'ServiceAccount', 'Trigger'].map((kind) => `${kind} provision-vm`),
        'Trigger provision-vm-machines',
        ...['', 'Binding'].map((kind) => `ValidatingAdmissionPolicy${kind} sync-operator-provision-vm`),
      ],
    },
    { set: ['policy.concurrency=8'], adds: ['ConfigMap sync-operator-policy'], changes: [] },
    { set: ['functions.follow-sync.maxScale=3'], changes: ['Service follow-sync'] },
    { set: ['functions.follow-sync.resources.limits.memory=1Gi'], changes: ['Service follow-sync'] },
    {
      set: ['eventTypes.enabled=true'],
      adds: Object.keys(facts)
        .map((type) => `EventType ${type}`)
        .sort((a, b) => a.localeCompare(b)),
      changes: [],
    },
    {
      set: ['roles.enabled=true'],
      adds: ['admin', 'edit', 'view'].map((role) => `ClusterRole ot-functions-${role}`),
      changes: [],
    },
  ])('changes only what $set is about', async ({ set, changes, adds = [], leavesOut = [] }) => {
    const plain = await rendered();
    const found = await rendered(...set.flatMap((value) => ['--set', value]));
    const same = (name: string) => JSON.stringify(plain[name]) === JSON.stringify(found[name]);
    const names = Object.keys(found);
    expect(names.filter((name) => !(name in plain))).toEqual(adds);
    expect(names.filter((name) => name in plain && !same(name))).toEqual(changes);
    expect(Object.keys(plain).filter((name) => !(name in found))).toEqual(
      leavesOut.toSorted((a, b) => a.localeCompare(b)),
    );
  });

  test('fills in the settings of every container', async () => {
    const set = [
      'image.repository=example.com/f',
      'image.tag=v2',
      'otlpEndpoint=http://c:4318',
      'image.pullPolicy=Always',
    ];
    for (const overlay of ['serving', 'deployments']) {
      const objects = await rendered('--set', [...set, `overlay=${overlay}`, 'nodeSelector.disk=fast'].join(','));
      const pods = Object.values(objects).flatMap((object) => podIn(object) ?? []);
      expect(pods.length).toBeGreaterThan(3);
      for (const pod of pods) {
        expect(pod.nodeSelector).toEqual({ disk: 'fast' });
        expect(pod.containers).toMatchObject([
          {
            image: 'example.com/f:v2',
            imagePullPolicy: 'Always',
            env: [{ name: 'K_SINK' }, { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://c:4318' }],
          },
        ]);
      }
    }
  });

  test.each([
    { set: 'policy.concurency=4', says: 'concurency' },
    { set: 'functions.start-sync.maxScale=2', says: 'maxScale' },
    { set: 'overlay=pods', says: 'overlay' },
    { set: 'broker.class=Kafka', says: 'bootstrapServers' },
  ])('refuses $set', async ({ set, says }) => {
    await expect(rendered('--set', set)).rejects.toThrow(says);
  });

  test('refuses any namespace but sync-operator, where its functions look for their policy', async () => {
    await expect(run(helm, [...template, '--namespace', 'default'], { cwd: root })).rejects.toThrow('sync-operator');
  });
});

/** The objects of the ApiServerSource of an operator, which one system has. */
function ofSource(system: string, name: string) {
  const account = `source-${name}`;
  const roles = ['ClusterRole', 'ClusterRoleBinding'].map((kind) => `${kind} sync-operator-${account}`);
  return [`ApiServerSource ${system}-${name}`, ...roles, `ServiceAccount ${account}`];
}

const rendered = async (...args: string[]) =>
  byName((await run(helm, [...template, '--namespace', 'sync-operator', ...args], { cwd: root, ...large })).stdout);

const kustomized = async (folder: string) =>
  byName((await run('kubectl', ['kustomize', folder], { cwd: root, ...large })).stdout);

/** The objects of a folder of manifests; of the component console the objects in its files. */
async function heldBy(folder: string): Promise<Record<string, object>> {
  if (!folder.endsWith('console')) return kustomized(folder);
  const names = ['permissions', 'console', 'network-policy'];
  const texts = names.map((name) => readFile(new URL(`console/${name}.yaml`, import.meta.url), 'utf8'));
  return byName((await Promise.all(texts)).join('---\n'));
}

/** The dashboards are a ConfigMap of files, which are not in the chart. */
const isDashboards = /^ConfigMap .*dashboards$/;

const large = { maxBuffer: 16 * 1024 * 1024 };

interface Rendered {
  kind: string;
  apiVersion: string;
  metadata: { name: string; annotations?: Record<string, string> };
}

const documentsIn = (text: string) =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);

/** Objects sorted by kind and name, without duplicates and without what Helm makes for its hooks alone. */
function byName(text: string): Record<string, object> {
  const objects = documentsIn(text)
    .filter(({ metadata }) => !metadata.annotations?.['helm.sh/hook'])
    .map((object) => [`${object.kind} ${object.metadata.name}`, object] as const)
    .sort(([a], [b]) => a.localeCompare(b));
  expect(new Set(objects.map(([name]) => name)).size).toBe(objects.length);
  return Object.fromEntries(objects);
}

interface Templated {
  spec: { template: object };
}

interface Pod {
  nodeSelector?: object;
  containers: object[];
}

const podIn = (object: object): Pod | undefined =>
  (object as { spec?: { template?: { spec: Pod } } }).spec?.template?.spec;
