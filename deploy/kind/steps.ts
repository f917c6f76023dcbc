import { fileURLToPath } from 'node:url';
import { operatorNamespace } from '../../shared/operator.ts';
import { policyName } from '../../shared/policy.ts';
import { applyRelease, kubectlOf, waitForDeployments } from './releases.ts';
import type { Run } from './run.ts';
import { hostpathDriver, nodeImage, releases } from './versions.ts';

/** A step of `ot-functions kind up`; a second run of it changes nothing. */
interface Step {
  title: string;
  /** Resolves with a word about what was found or done, if any. */
  act(run: Run): Promise<string | undefined>;
}

/** The name of the cluster, and of its context in the kubeconfig. */
export const cluster = { name: 'ot-functions', context: 'kind-ot-functions' } as const;

const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('./', import.meta.url));
const image = 'kind.local/ot-functions:dev';

/** All steps, from no cluster to functions that receive events. */
export const steps = (temporary: string): Step[] => [
  { title: 'cluster of kind', act: createCluster },
  ...releases.map((release) => ({
    title: `${release.name} ${release.version}`,
    act: (run: Run) => applyRelease(run, cluster.context, release),
  })),
  { title: 'Kourier as the ingress layer of Serving', act: chooseKourier },
  { title: 'KubeVirt without hardware virtualisation', act: allowEmulation },
  { title: `${hostpathDriver.name} ${hostpathDriver.version}`, act: (run) => installDriver(run, temporary) },
  { title: 'image of the functions', act: loadImage },
  { title: 'classes', act: applyStorage },
  { title: 'policy', act: makePolicy },
  { title: 'functions', act: installFunctions },
];

async function createCluster(run: Run) {
  const names = (await run('kind', ['get', 'clusters'])).split('\n');
  if (names.includes(cluster.name)) return 'exists';
  await run('kind', ['create', 'cluster', '--config', `${here}cluster.yaml`, '--image', nodeImage, '--wait', '3m']);
  return 'created';
}

async function chooseKourier(run: Run) {
  const data = { 'ingress-class': 'kourier.ingress.networking.knative.dev' };
  await patch(run, 'knative-serving', 'configmap/config-network', { data });
  return undefined;
}

async function allowEmulation(run: Run) {
  const configuration = { developerConfiguration: { useEmulation: true } };
  await patch(run, 'kubevirt', 'kubevirt/kubevirt', { spec: { configuration } });
  return undefined;
}

const patch = (run: Run, namespace: string, object: string, change: object) =>
  kubectlOf(run, cluster.context)('-n', namespace, 'patch', object, '--type', 'merge', '-p', JSON.stringify(change));

async function installDriver(run: Run, temporary: string) {
  const kubectl = kubectlOf(run, cluster.context);
  const found = await kubectl('get', 'csidriver', 'hostpath.csi.k8s.io', '--ignore-not-found', '-o', 'name');
  if (found.trim()) return 'exists';
  const { repository, version, script } = hostpathDriver;
  const folder = `${temporary}/${hostpathDriver.name}`;
  await run('git', ['clone', '--quiet', '--depth', '1', '--branch', version, repository, folder]);
  // Its script uses the current context.
  await run('kubectl', ['config', 'use-context', cluster.context]);
  await run('bash', [`${folder}/${script}`], { cwd: folder });
  return 'installed';
}

async function loadImage(run: Run) {
  await run('npm', ['run', '--silent', 'build'], { cwd: root });
  await run('docker', ['build', '--quiet', '-f', 'deploy/image/Dockerfile', '-t', image, '.'], { cwd: root });
  await run('kind', ['load', 'docker-image', image, '--name', cluster.name]);
  return image;
}

async function applyStorage(run: Run) {
  await kubectlOf(run, cluster.context)('apply', '--server-side', '-f', `${here}storage.yaml`);
  return undefined;
}

/** Only if it does not exist: applying an edited policy again would be a conflict. */
async function makePolicy(run: Run) {
  const kubectl = kubectlOf(run, cluster.context);
  const policy = ['-n', operatorNamespace, 'get', 'configmap', policyName];
  const found = await kubectl(...policy, '--ignore-not-found', '-o', 'name');
  if (found.trim()) return 'exists';
  await kubectl('apply', '--server-side', '-f', `${here}policy.yaml`);
  return 'made';
}

/** The installer waits until events reach every function, and leaves machines out while KubeVirt does not serve its kinds. */
async function installFunctions(run: Run) {
  await waitForDeployments(run, cluster.context, ['knative-eventing', 'knative-serving']);
  const untilAvailable = ['--for=condition=Available', '--timeout=15m'];
  const kubectl = kubectlOf(run, cluster.context);
  await kubectl('wait', 'cdi/cdi', ...untilAvailable);
  await kubectl('-n', 'kubevirt', 'wait', 'kubevirt/kubevirt', ...untilAvailable);
  const args = ['deploy/cli/main.ts', 'install', '--overlay', here, '--context', cluster.context];
  await run(process.execPath, [...args, '--timeout', '10m'], { cwd: root });
  return 'Ready';
}
