import { expect, onTestFinished, test } from 'vitest';
import { hasKubectl } from '../../../test/stories/local-world.ts';
import { startTestCluster } from '../../../test/support/harness/install-cluster.ts';
import { apply, assertStoredVersionsStay, install } from './install.ts';
import { type AnyObject, Definition, Deployment } from './kinds.ts';
import { readWanted } from './manifests.ts';

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.warn('skipped: installing needs kubectl on the PATH, which renders the overlay');

// The slow cases are in install.slow.test.ts.
test.skipIf(!isKubectlThere)(
  'on a cluster all of it is up, receivers before senders',
  { timeout: 60_000 },
  async () => {
    const cluster = await startTestCluster();
    onTestFinished(cluster.close);
    await install(cluster, await readWanted('deployments', 'registry.example/ot-functions:1'));
    const stages = cluster.lines.filter((line) => / up$/.test(line)).map((line) => line.split(':')[0]);
    expect(stages).toEqual(['definitions', 'namespace', 'permissions', 'functions', 'broker', 'triggers', 'sources']);
    const deployments = await cluster.kube.list(Deployment, { namespace: 'sync-operator' });
    expect(deployments.map(({ metadata }) => metadata.name)).toContain('start-sync');
    expect(JSON.stringify(deployments)).toContain('"registry.example/ot-functions:1"');
  },
);

test('a Deployment of an earlier release that rolled out gradually becomes one that is recreated', async () => {
  const cluster = await startTestCluster();
  onTestFinished(cluster.close);
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } };
  await cluster.kube.create(Deployment, aDeployment(strategy));
  await apply(cluster, Deployment.parse(aDeployment({ type: 'Recreate' })));
  const found = await cluster.kube.get(Deployment, aDeployment({}).metadata);
  expect(found?.spec).toMatchObject({ strategy: { type: 'Recreate' } });
  expect(JSON.stringify(found?.spec)).not.toContain('rollingUpdate');
});

const aDeployment = (strategy: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'sync-operator', name: 'count-refs' },
  spec: {
    strategy,
    selector: { matchLabels: { app: 'count-refs' } },
    template: {
      metadata: { labels: { app: 'count-refs' } },
      spec: { containers: [{ name: 'count-refs', image: 'x' }] },
    },
  },
});

test('a CRD without a version in which objects are stored is refused', () => {
  const before = { ...aCrd('v1'), status: { storedVersions: ['v1alpha1', 'v1'] } };
  expect(() => assertStoredVersionsStay(before, aCrd('v1'))).toThrow(/keep version v1alpha1.*found only v1\./);
  expect(() => assertStoredVersionsStay(undefined, aCrd('v1'))).not.toThrow();
});

const aCrd = (version: string): AnyObject =>
  Definition.parse({ metadata: { name: 'x.pelotech.ot' }, spec: { versions: [{ name: version }] } });
