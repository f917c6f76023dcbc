import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { publicationKeysIn, publicationKeysRef } from '../../../shared/images/signature.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { siteKeyIn, siteKeyRef } from '../../../shared/workspaces/site-key.ts';
import { hasKubectl } from '../../../test/stories/local-world.ts';
import { typed } from '../../../test/support/builders/install-options.ts';
import { startTestCluster, type TestCluster } from '../../../test/support/harness/install-cluster.ts';
import { documents } from '../../manifests.ts';
import { anyOf, Broker, ConfigMap, Definition, Deployment } from './kinds.ts';
import { run } from './run.ts';

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.warn('skipped: installing needs kubectl on the PATH, which renders the overlay');

const root = fileURLToPath(new URL('../../../', import.meta.url));
const operator = { namespace: 'sync-operator' };
const policy = { ...operator, name: 'sync-operator-policy' };
const broker = { ...operator, name: 'default' };
const image = ['--image', 'registry.example/f:1'];

const rbac = 'rbac.authorization.k8s.io/v1';
const ClusterRole = anyOf(rbac, 'ClusterRole', { namespaced: false });

/** A folder with an overlay over knative/deployments and these manifests. */
async function anOverlay(manifests = '', more = ''): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'overlay-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  const resources = [relative(folder, join(root, 'knative/deployments')), ...(manifests ? ['more.yaml'] : [])];
  await writeFile(join(folder, 'more.yaml'), manifests);
  await writeFile(join(folder, 'kustomization.yaml'), `resources: [${resources.join(', ')}]\n${more}`);
  return folder;
}

describe.skipIf(!isKubectlThere)('on a cluster', { timeout: 60_000 }, () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await startTestCluster();
    // These tests do not need machines, and are faster without them.
    for (const plural of ['virtualmachines', 'virtualmachineinstances'])
      await cluster.kube.delete(Definition, { name: `${plural}.kubevirt.io` });
  }, 60_000);
  afterEach(() => cluster.close());
  const command = (...args: Parameters<typeof typed>) => run(cluster, typed(...args));
  const imagesOf = async (name: string) => {
    const found = await cluster.kube.get(Deployment, { ...operator, name });
    return JSON.stringify(found?.spec).match(/"image":"[^"]*"/g);
  };

  describe('an image', () => {
    const named = 'images: [{ name: ot-functions, newName: registry.example/own, newTag: "1" }]\n';

    test('given to an overlay that names another is refused, and nothing is installed', async () => {
      const overlay = await anOverlay('', named);
      await expect(command('install', '--overlay', overlay, ...image)).rejects.toThrow(
        /the overlay names registry\.example\/own:1; leave out --image, or its `images:`/,
      );
      expect(cluster.lines.filter((line) => / up$/.test(line))).toEqual([]);
    });

    test('is put where an overlay of production has only its example, which is never installed', async () => {
      // As the overlays of production do.
      const overlay = await anOverlay(
        '',
        named.replace('registry.example/own, newTag: "1"', 'registry.example/ot-functions, newTag: 0.1.0'),
      );
      await expect(command('install', '--overlay', overlay)).rejects.toThrow(
        'found only the placeholder registry.example/ot-functions:0.1.0',
      );
      await command('install', '--overlay', overlay, ...image);
      expect(await imagesOf('start-sync')).toEqual(['"image":"registry.example/f:1"']);
      const up = `../${relative(await realpath(tmpdir()), root)}`;
      const kafka = await anOverlay('', `components: [${join(up, 'deploy/production/kafka')}]\n`);
      const before = cluster.lines.length;
      await expect(command('upgrade', '--overlay', kafka, '--skip-check')).rejects.toThrow(
        'expected Broker default to stay of class MTChannelBasedBroker, found Kafka in the overlay',
      );
      expect(cluster.lines.slice(before).filter((line) => /made|changed|removed| up$/.test(line))).toEqual([]);
    });

    test('that runs is kept by an upgrade without one, and replaced by an overlay that names one', async () => {
      await command('install', '--overlay', await anOverlay(), ...image);
      await command('upgrade');
      expect(await imagesOf('start-sync')).toEqual(['"image":"registry.example/f:1"']);
      await command('upgrade', '--overlay', await anOverlay('', named));
      expect(await imagesOf('start-sync')).toEqual(['"image":"registry.example/own:1"']);
    });
  });

  test('an installation makes a key for pipelines and one for workspaces, and an upgrade leaves them as they are', async () => {
    const overlay = await anOverlay();
    const keys = async () => publicationKeysIn(await cluster.kube.get(Secret, publicationKeysRef));
    await command('install', '--overlay', overlay, ...image);
    const [first, ...more] = await keys();
    expect([first, more]).toEqual([expect.stringMatching(/^whsec_.{44}$/), []]);
    const ofSite = async () => siteKeyIn(await cluster.kube.get(Secret, siteKeyRef))?.toString();
    const site = await ofSite();
    expect(site).toMatch(/^.{44}$/);
    for (const key of [first, site]) expect(cluster.lines.join('\n')).not.toContain(key);
    await command('upgrade');
    expect([await keys(), await ofSite()]).toEqual([[first], site]);
  });

  test('the lines of --allow-source are added to those of the policy, each once', async () => {
    const overlay = await anOverlay();
    const allowed = async () => (await cluster.kube.get(ConfigMap, policy))?.data;
    const [one, other] = ['https://s3.example.com/images/** s3-reader', 'https://images.example.com/**'];
    await command('install', '--overlay', overlay, ...image);
    expect(await allowed()).not.toHaveProperty('allowedSources');
    expect(cluster.lines).toContainEqual(expect.stringContaining('the policy allows no sources yet'));
    await command('upgrade', '--allow-source', one);
    await command('upgrade', '--allow-source', one, '--allow-source', other);
    expect(await allowed()).toMatchObject({ allowedSources: `${one}\n${other}` });
  });

  describe('an upgrade without an overlay', () => {
    const role = `{apiVersion: ${rbac}, kind: ClusterRole, metadata: {name: extra, labels: {app.kubernetes.io/part-of: ot-functions}}, rules: []}`;
    const extra = () => cluster.kube.get(ClusterRole, { name: 'extra' });

    test('uses the installed one, and so removes nothing', async () => {
      const overlay = await anOverlay(role);
      await command('install', '--overlay', overlay, ...image);
      cluster.lines.length = 0;
      await command('upgrade');
      expect(cluster.lines).toContain(`overlay ${overlay}`);
      expect(cluster.lines.filter((line) => / removed$/.test(line))).toEqual([]);
      expect(await extra()).toBeDefined();
    });

    test('finds an overlay of this project again in another checkout', async () => {
      const overlay = join(root, 'knative/deployments');
      await command('install', '--overlay', overlay, ...image);
      expect((await cluster.kube.get(Broker, broker))?.metadata.annotations).toMatchObject({
        'pelotech.ot/overlay': './knative/deployments',
      });
      await command('upgrade');
      expect(cluster.lines.filter((line) => line === `overlay ${overlay}`)).toHaveLength(2);
    });

    test('is refused if none is known and the cluster has an object that no built-in overlay has', async () => {
      await command('install', '--overlay', await anOverlay(role), ...image);
      await cluster.kube.patch(Broker, broker, { metadata: { annotations: { 'pelotech.ot/overlay': null } } });
      await expect(command('upgrade')).rejects.toThrow(
        /expected to know which overlay is installed, found ClusterRole extra.*name it with --overlay/,
      );
      expect(await extra()).toBeDefined();
    });

    test('uses a built-in one if none is known and the cluster has no other objects', async () => {
      await command('install', '--overlay', 'deployments', ...image);
      await cluster.kube.patch(Broker, broker, { metadata: { annotations: { 'pelotech.ot/overlay': null } } });
      await command('upgrade');
      expect(cluster.lines).toContain('overlay deployments');
    });
  });

  test('an upgrade keeps objects that others applied, whatever their labels', async () => {
    await command('install', '--overlay', 'deployments', ...image);
    const metadata = '{name: gateway, namespace: sync-operator, labels: {app.kubernetes.io/part-of: ot-functions}}';
    const beside = documents(`
{apiVersion: v1, kind: ServiceAccount, metadata: ${metadata}}
---
{apiVersion: v1, kind: Service, metadata: ${metadata}, spec: {ports: [{port: 443}]}}`);
    const resourceOf = ({ apiVersion, kind }: (typeof beside)[number]) => anyOf(apiVersion, kind);
    for (const object of beside) await cluster.kube.apply(resourceOf(object), object, { fieldManager: 'kubectl' });
    await command('upgrade');
    for (const object of beside)
      expect(await cluster.kube.get(resourceOf(object), object.metadata), object.kind).toBeDefined();
  });

  describe('a ConfigMap of the overlay', () => {
    test('that is the policy replaces ours in a new installation, and is left as it is later', async () => {
      await cluster.kube.delete(ConfigMap, policy);
      const own = (concurrency: string) =>
        anOverlay(
          `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${policy.name}, namespace: sync-operator}, data: {concurrency: "${concurrency}"}}`,
        );
      await command('install', '--overlay', await own('7'), ...image);
      expect((await cluster.kube.get(ConfigMap, policy))?.data).toEqual({ concurrency: '7' });
      await command('upgrade', '--overlay', await own('8'));
      expect((await cluster.kube.get(ConfigMap, policy))?.data).toEqual({ concurrency: '7' });
    });

    test('that is another is changed with it', async () => {
      const own = (text: string) =>
        anOverlay(
          `{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: sync-operator}, data: {text: ${text}}}`,
        );
      await command('install', '--overlay', await own('before'), ...image);
      await command('upgrade', '--overlay', await own('after'));
      expect((await cluster.kube.get(ConfigMap, { ...operator, name: 'own' }))?.data).toEqual({ text: 'after' });
    });
  });
});
