import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { findHelm } from '../support/tools/go/tools.ts';
import { kubectl, kubectlOrFail, type Ran } from './kubectl.ts';

/** Every manifest of ours, asked of a real API server without being made: would it be taken, field for field? */

const root = fileURLToPath(new URL('../../', import.meta.url));

/** API groups that this cluster may lack, and why that is no fault. */
const mayLack: Record<string, string> = {
  'source.toolkit.fluxcd.io': 'Flux is not on this cluster',
  'kustomize.toolkit.fluxcd.io': 'Flux is not on this cluster',
  'helm.toolkit.fluxcd.io': 'Flux is not on this cluster',
  'monitoring.coreos.com': 'the Prometheus operator is not on this cluster',
  'eventing.knative.dev': 'this cluster was brought up without Knative',
  'sources.knative.dev': 'this cluster was brought up without Knative',
  'serving.knative.dev': 'this cluster was brought up without Knative Serving',
};

const overlays = ['knative/serving', 'knative/deployments'];
/** Plain manifests that no kustomization names. */
const loose = [
  'crds/examples',
  'deploy/base',
  'deploy/production/importers.yaml',
  'deploy/kind/policy.yaml',
  'deploy/kind/storage.yaml',
];
const refused = 'vm-disk-image-illegal.yaml';

const { kustomizations, components } = await kustomizationsIn('knative', 'deploy', 'crds');
/** Those of knative/ are in both overlays already. */
const optional = components.filter((path) => !path.startsWith('knative/'));
const temporary = await mkdtemp(join(tmpdir(), 'manifests-'));
const served = new Set<string>();
const hasAuthentication = await isAuthenticationOn();
const skipped = new Map<string, string>();

beforeAll(async () => {
  const { stdout } = await promisify(execFile)('find', [join(root, 'crds'), '-maxdepth', '1', '-name', '*.yaml']);
  for (const file of stdout
    .split('\n')
    .filter((path) => /crds\/[a-z-]+\.yaml$/.test(path) && !/kustomization/.test(path)))
    await kubectlOrFail('apply', '--server-side', '--force-conflicts', '-f', file);
  await kubectlOrFail('wait', '--for=condition=Established', 'customresourcedefinitions', '--all', '--timeout=60s');
  const lines = (await kubectlOrFail('api-resources', '--no-headers')).split('\n').filter(Boolean);
  const versions = (await kubectlOrFail('api-versions')).split('\n').filter(Boolean);
  for (const words of lines.map((line) => line.trim().split(/\s+/))) {
    // Of each kind it prints the preferred version only, and others are served as well.
    const group = groupOf(words.at(-3) ?? '');
    for (const version of versions.filter((each) => groupOf(each) === group)) served.add(`${version} ${words.at(-1)}`);
  }
});

afterAll(async () => {
  for (const [kind, reason] of [...skipped].sort()) console.log(`skipped: ${kind}: ${reason}`);
  await rm(temporary, { recursive: true });
});

test('there are kustomizations and components to ask about', () => {
  expect(kustomizations).toEqual(expect.arrayContaining([...overlays, 'deploy/production/serving']));
  const some = ['kafka', 'pod-disruption-budgets', 'without-kubevirt'].map((name) => `deploy/production/${name}`);
  expect(components).toEqual(expect.arrayContaining([...some, 'knative/components/kubevirt']));
});

describe('a real API server takes what is made of', () => {
  test.each(kustomizations)('%s', async (folder) => {
    await expectTaken(await built(join(root, folder)));
  });

  test.each(overlays.flatMap((overlay) => optional.map((component) => ({ overlay, component }))))(
    '$overlay with $component',
    async ({ overlay, component }) => {
      await expectTaken(await built(await composed(overlay, component)));
    },
  );

  test.each(loose)('%s', async (path) => {
    const files = path.endsWith('.yaml') ? [path] : (await readdir(join(root, path))).map((name) => `${path}/${name}`);
    const texts = await Promise.all(
      files
        .filter((file) => file.endsWith('.yaml') && !file.endsWith(refused))
        .map((file) => readFile(join(root, file), 'utf8')),
    );
    expect(texts.length).toBeGreaterThan(0);
    await expectTaken(texts.join('\n---\n'));
  });
});

test('a real API server refuses the example that is illegal on purpose', async () => {
  const { code, err } = await dryRun(await readFile(join(root, 'crds/examples', refused), 'utf8'));
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('invalid') });
});

const helm = await findHelm();

describe('the Helm chart', () => {
  test.each([
    ['--set', 'overlay=serving'],
    ['--set', 'overlay=deployments,policy.concurrency=8,otlpEndpoint=http://collector:4318'],
    [
      '--values',
      'deploy/production/chart/values-production.yaml',
      '--set',
      'broker.class=Kafka,broker.kafka.bootstrapServers=kafka:9092',
    ],
  ])('%s %s is taken', async (...values) => {
    if (helm.missing) {
      skipped.set('the Helm chart', helm.missing);
      return;
    }
    const template = ['template', 'ot-functions', 'deploy/production/chart', '--namespace', 'sync-operator'];
    const { stdout } = await promisify(execFile)(helm.path, [...template, '--kube-version', '1.34.0', ...values], {
      cwd: root,
      maxBuffer: 16 * 1024 * 1024,
    });
    await expectTaken(stdout);
  });
});

async function isAuthenticationOn(): Promise<boolean> {
  const path = '{.data.authentication-oidc}';
  const { out } = await kubectl(
    'get',
    'configmap',
    'config-features',
    '-n',
    'knative-eventing',
    '-o',
    `jsonpath=${path}`,
  );
  return out.toLowerCase() === 'enabled';
}

/** The folders that hold a Kustomization, and those that hold a Component. */
async function kustomizationsIn(...folders: string[]) {
  const found = { kustomizations: [] as string[], components: [] as string[] };
  for (const folder of folders) {
    const names = await readdir(join(root, folder), { recursive: true });
    for (const name of names.filter((path) => /(^|\/)kustomization\.yaml$/.test(path)).sort()) {
      const isComponent = /^kind: Component$/m.test(await readFile(join(root, folder, name), 'utf8'));
      found[isComponent ? 'components' : 'kustomizations'].push(join(folder, name, '..'));
    }
  }
  return found;
}

const built = (folder: string) => kubectlOrFail('kustomize', folder);

/** A folder whose kustomization puts a component over an overlay. */
async function composed(overlay: string, component: string): Promise<string> {
  const folder = await mkdtemp(join(temporary, 'composed-'));
  const pathTo = (path: string) => relative(folder, join(root, path));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [pathTo(overlay)],
    components: [pathTo(component)],
  };
  await writeFile(join(folder, 'kustomization.yaml'), stringify(kustomization));
  return folder;
}

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
}

/** Says to the API server what the text holds, but for kinds that it may lack. */
async function expectTaken(text: string): Promise<void> {
  const objects = parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
  expect(objects.length).toBeGreaterThan(0);
  const asked = objects.filter((object) => !isLacking(object));
  await makeNamespaces(asked);
  await makeServiceAccounts(asked);
  const { code, err } =
    asked.length > 0 ? await dryRun(asked.map((object) => stringify(object)).join('---\n')) : nothing;
  expect({ code, err: complaints(err) }).toEqual(nothing);
}

const nothing = { code: 0, err: '' };

/** Prints the warnings, and returns the errors. */
const complaints = (text: string) =>
  text
    .split('\n')
    .filter((line) => line && !line.startsWith('Warning: '))
    .join('\n');

function isLacking({ apiVersion, kind }: Manifest): boolean {
  const group = groupOf(apiVersion);
  if (kind === 'EventPolicy' && !hasAuthentication) {
    skipped.set(`${apiVersion} ${kind}`, 'refused while authentication-oidc is off, as it is on this cluster');
    return true;
  }
  if (served.has(`${apiVersion} ${kind}`) || !(group in mayLack)) return false;
  skipped.set(`${apiVersion} ${kind}`, mayLack[group] ?? '');
  return true;
}

/** `apps` of `apps/v1`; `v1` of the core, which has no name. */
const groupOf = (apiVersion: string) => apiVersion.split('/')[0] ?? '';

/** An object of a namespace is refused, dry run or not, where there is no such namespace. */
async function makeNamespaces(objects: readonly Manifest[]): Promise<void> {
  const names = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  for (const name of names) {
    const { code, err } = await kubectl('create', 'namespace', name);
    if (code !== 0 && !err.includes('AlreadyExists')) throw new Error(err);
  }
}

/** Serving's webhook tries the pod of a Service, which is refused where its account is not. */
async function makeServiceAccounts(objects: readonly Manifest[]): Promise<void> {
  const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
  const texts = accounts.map(({ apiVersion, kind, metadata: { name, namespace } }) =>
    stringify({ apiVersion, kind, metadata: { name, namespace } }),
  );
  if (texts.length > 0) await applied(texts.join('---\n'));
}

const applied = async (text: string) => {
  const { code, err } = await apply(text);
  if (code !== 0) throw new Error(err);
};

const dryRun = (text: string) => apply(text, '--dry-run=server', '--validate=strict');

const apply = (text: string, ...more: string[]): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const args = ['apply', '--server-side', '--force-conflicts', ...more, '-f', '-'];
    const child = spawn('kubectl', args);
    const ran = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (ran.out += chunk));
    child.stderr.on('data', (chunk: Buffer) => (ran.err += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, ...ran }));
    child.stdin.end(text);
  });
