import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documents, readManifests } from '../../deploy/manifests.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { kubectl, kubectlOrFail } from './kubectl.ts';

/** How the functions run: as Knative Services that sleep, or as Deployments; and whether those for OpenStack are among them. */
export type Overlay = 'serving' | 'serving-openstack' | 'deployments';

/** With the timers as they are shipped. */
const productionFolders: Readonly<Record<Overlay, string>> = {
  serving: '../../knative/serving',
  'serving-openstack': 'overlays/serving-openstack-production',
  deployments: '../../knative/deployments',
};

const isServing = (overlay: Overlay) => overlay !== 'deployments';

const operator = ['--namespace', 'sync-operator'];
const serverSide = ['apply', '--server-side', '--force-conflicts'];
const path = (from: string) => fileURLToPath(new URL(from, import.meta.url));

/** Where the definitions of CDI, the snapshotter, KubeVirt and kube-ovn are; those of the project's own local cluster by default. */
const foreignDefinitions = process.env.OT_FOREIGN_CRDS ?? path('../../deploy/local/crds');

/**
 * Applies definitions, policy and the manifests of an overlay, and waits until an event would reach every function. `env` goes to
 * each of them.
 */
export async function install(
  overlay: Overlay,
  { timers = 'fast', env = {} }: { timers?: 'fast' | 'production'; env?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  await prepare();
  // What an earlier test left of another overlay would run on, or wait for ever for what this one does not have.
  await removeFunctions();
  const text = await manifestsOf(path(timers === 'fast' ? `overlays/${overlay}` : productionFolders[overlay]));
  await bringUp(
    overlay,
    documents(text).map((object) => withEnv(object, env)),
  );
}

/** Applies objects of an overlay and waits until an event would reach every function among them. */
export async function bringUp(overlay: Overlay, objects: readonly KubernetesObject[]): Promise<void> {
  const [senders, receivers] = partition(objects.map(withoutIpv6), isSender);
  await applyText(textOf(receivers));
  if (receivers.some(({ kind }) => kind === 'ValidatingAdmissionPolicy')) await admissionPoliciesObserved();
  await (isServing(overlay) ? ready('services.serving.knative.dev') : ready('deployments', 'Available'));
  await applyText(textOf(senders));
  const kinds = [...new Set(senders.map(({ kind }) => kind))];
  await Promise.all(kinds.map((kind) => ready(kind)));
}

type Policy = KubernetesObject & { spec: { egress?: { to?: { ipBlock?: { cidr: string } }[] }[] } };

/** A network policy as the network of the tests can enforce it: it knows IPv4 only, and drops every policy if one says more. */
export function withoutIpv6(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'NetworkPolicy') return object;
  const policy = structuredClone(object) as Policy;
  for (const rule of policy.spec.egress ?? [])
    if (rule.to) rule.to = rule.to.filter(({ ipBlock }) => !ipBlock?.cidr.includes(':'));
  return policy;
}

const isSender = ({ apiVersion }: KubernetesObject) => /^(eventing|sources)\./.test(apiVersion);

/** The object with more in the environment of its containers, where it has any. */
export function withEnv<T extends object>(object: T, env: Readonly<Record<string, string>>): T {
  const { spec } = object as { spec?: { template?: { spec?: { containers?: { env?: object[] }[] } } } };
  const changed = structuredClone(object) as { spec: NonNullable<typeof spec> };
  for (const container of changed.spec?.template?.spec?.containers ?? []) {
    container.env = [...(container.env ?? []), ...Object.entries(env).map(([name, value]) => ({ name, value }))];
  }
  return changed as T;
}

/** Resolves when everything that runs for us, and Knative, is up; what sleeps counts as such. */
export async function untilAvailable(): Promise<void> {
  for (const namespace of ['sync-operator', 'knative-eventing', 'knative-serving']) {
    const available = ['--for=condition=Available', 'deployments', '--all', '--timeout=180s'];
    await kubectlOrFail('wait', '--namespace', namespace, ...available).catch(saying(() => podsAndWarnings(namespace)));
  }
}

/** Adds to an error what is known of its cause, for no one can look at a cluster that is gone. */
const saying = (cause: () => Promise<string>) => async (error: Error) => {
  error.message += `\n\n${await cause()}`;
  throw error;
};

/** What says why a Deployment is not available. */
async function podsAndWarnings(namespace: string): Promise<string> {
  const pods = await kubectl('get', 'pods', '--namespace', namespace, '--output=wide');
  const warnings = ['events', '--namespace', namespace, '--field-selector=type=Warning', '--sort-by=.lastTimestamp'];
  const { out } = await kubectl('get', ...warnings);
  return `${pods.out}\n${out.split('\n').slice(-40).join('\n')}`;
}

/** What compose-workspace may write is bounded by admission policies, which the API server enforces a moment after they are created. */
export const admissionPoliciesObserved = () =>
  kubectlOrFail(
    'wait',
    'validatingadmissionpolicies',
    ...['--selector', 'app.kubernetes.io/part-of=ot-functions'],
    ...['--for=jsonpath={.status.observedGeneration}', '--timeout=60s'],
  );

const ready = (kinds: string, condition = 'Ready') =>
  kubectlOrFail('wait', ...operator, `--for=condition=${condition}`, kinds, '--all', '--timeout=180s').catch(
    saying(() => whyNotReady(kinds)),
  );

/** The conditions of objects of a kind, and how their controllers are. */
async function whyNotReady(kinds: string): Promise<string> {
  const conditions = '{range .items[*]}{.metadata.name}: {.status.conditions}{"\\n"}{end}';
  const { out } = await kubectl('get', kinds, ...operator, `--output=jsonpath=${conditions}`);
  const namespaces = ['sync-operator', 'knative-eventing', 'knative-serving', 'kube-system'];
  const logs = await Promise.all(controllers.map(lastLog));
  return [out, ...(await Promise.all(namespaces.map(podsAndWarnings))), ...logs].join('\n');
}

const controllers = [
  'knative-serving/controller',
  'knative-eventing/eventing-controller',
  'knative-eventing/mt-broker-controller',
];

async function lastLog(controller: string): Promise<string> {
  const [namespace = '', name = ''] = controller.split('/');
  const { out, err } = await kubectl('logs', '--namespace', namespace, `deployments/${name}`, '--tail=15');
  return `${controller}: ${out || err}`;
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

export const textOf = (objects: readonly object[]) => objects.map((object) => JSON.stringify(object)).join('\n---\n');

/** Definitions, namespaces, classes and policy: all but the functions and what wakes them. */
export async function prepare(): Promise<void> {
  await refuseReal();
  // A folder of others' definitions may lack those of KubeVirt that came last; its own count where it has them.
  const own = ['preferences', 'instancetypes'].flatMap((plural) => [
    '-f',
    path(`../../deploy/local/crds/virtualmachinecluster${plural}.instancetype.kubevirt.io.yaml`),
  ]);
  await kubectlOrFail(...serverSide, ...own, '-f', foreignDefinitions, '-f', path('../../crds'));
  await kubectlOrFail('wait', '--for=condition=Established', 'customresourcedefinitions', '--all', '--timeout=60s');
  await kubectlOrFail(...serverSide, '-f', path('../../deploy/base'), '-f', path('../../deploy/local/base'));
}

/** The functions' ServiceAccounts with what they may do and where that ends, and no function. */
export async function preparePermissions(): Promise<void> {
  const base = (name: string) => ['-f', path(`../../knative/base/${name}.yaml`)];
  await kubectlOrFail(...serverSide, ...base('permissions'), ...base('admission-policies'));
  await admissionPoliciesObserved();
}

/** The stories simulate CDI, snapshotter, KubeVirt and kube-ovn; two controllers would fight over the same objects. */
async function refuseReal(): Promise<void> {
  const [found] = await realOperators();
  if (found)
    throw new Error(
      `expected a cluster without CDI, snapshotter, KubeVirt and kube-ovn, for the stories bring simulated ones; found ${found}`,
    );
}

const realOperators = async () =>
  namesIn(await kubectlOrFail('get', 'deployments', '--all-namespaces', '--output=name')).filter((name) =>
    operators.test(name),
  );

/** Existing objects of the cluster that the stories would use, and delete at their end. */
export async function whatIsInTheWay(): Promise<string[]> {
  const there = ['get', '--ignore-not-found', '--output=name'];
  const ours = ['vmdiskimages', 'virtualmachines', 'workspaces'].map((plural) => `${plural}.pelotech.ot`);
  const definitions = ['customresourcedefinitions', ...ours];
  return [
    ...(await realOperators()),
    ...namesIn(await kubectlOrFail(...there, 'namespaces', 'sync-operator', 'lab', 'vmdi-farm')),
    ...namesIn(await kubectlOrFail(...there, ...definitions)),
  ];
}

const namesIn = (out: string) => out.split('\n').filter(Boolean);

const operators =
  /\/(cdi-deployment|cdi-operator|snapshot-controller|virt-operator|virt-controller|virt-api|kube-ovn-controller)$/;

/** The image under test; a manifest names it without a version or a place. */
export const imageUnderTest = () => process.env.OT_IMAGE ?? 'localhost/ot-functions:dev';

const manifestsOf = async (folder: string) =>
  (await kubectlOrFail('kustomize', folder)).replaceAll('image: ot-functions', `image: ${imageUnderTest()}`);

/** Applies the objects of a YAML text. */
export const applyText = (text: string, ...more: string[]): Promise<void> => withText(text, ...serverSide, ...more);

/** Deletes the objects, senders first, and waits until they are deleted. */
export async function removeObjects(objects: readonly KubernetesObject[]): Promise<void> {
  for (const some of partition(objects, isSender))
    await withText(textOf(some), 'delete', '--ignore-not-found', '--wait=true');
}

/** Runs kubectl on the objects of a YAML text. */
async function withText(text: string, ...command: string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ot-manifests-'));
  try {
    await writeFile(join(folder, 'all.yaml'), text);
    await kubectlOrFail(...command, '-f', join(folder, 'all.yaml'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** All that `install` has applied of ours but the policy, with timers that do not let anybody wait. */
export const manifestsIn = async (overlay: Overlay): Promise<KubernetesObject[]> => [
  ...(await readManifests('crds')),
  ...documents(await manifestsOf(path(`overlays/${overlay}`))),
];

/**
 * Takes away the functions of whichever overlay and what sends to them, and leaves definitions and permissions. Senders go first, so that
 * nothing is sent to a function that is gone; and a Trigger that once did not find its subscriber may never look again (Knative 1.20).
 */
export async function removeFunctions(): Promise<void> {
  for (const kinds of [
    'triggers,pingsources,apiserversources',
    'brokers',
    'services.serving.knative.dev',
    'deployments,services',
  ])
    await kubectlOrFail('delete', kinds, ...operator, '-l', 'app.kubernetes.io/part-of=ot-functions', '--wait=true');
}
