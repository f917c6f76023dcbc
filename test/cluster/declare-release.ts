import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { imageReferenceFinalizer, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { putImage } from '../stories/images.ts';
import { createMachine, untilMachine } from '../stories/machines.ts';
import { aLab, deleteWorkspace, policyOf, readyWorkspace, untilWorkspace } from '../stories/workspaces.ts';
import { createImage, type Story, until, untilPhase, type World } from '../stories/world.ts';
import { findHelm } from '../support/tools/go/tools.ts';
import { awaitedDownloads } from './awaited-downloads.ts';
import { runInstaller } from './commands.ts';
import { imageUnderTest, prepare } from './installation.ts';
import { kubectl, kubectlOrFail, type Ran } from './kubectl.ts';
import { buildReleaseBefore } from './release-before.ts';
import { adminClient, onRealCluster } from './world.ts';

/** The commit from whose release all upgrades begin. */
const commit = 'ae03951ced4304c75ff0ed14f3717a05b80996c2';

const root = fileURLToPath(new URL('../../', import.meta.url));
const { path: helm, missing: helmMissing } = await findHelm();
if (helmMissing) console.warn(`skipped: the chart is installed only by a Helm 4: ${helmMissing}`);

/** Where a release's files are, and which image they name. */
interface Files {
  folder: string;
  image: string;
}

/** One of the ways to install a release, to go to another, and to remove it. */
interface Way {
  name: string;
  /** What it cannot run without. */
  missing?: string | undefined;
  install(release: Files): Promise<unknown>;
  upgrade(release: Files): Promise<unknown>;
  /** Whether all is well, as a user of this way finds out. */
  test(release: Files): Promise<unknown>;
  uninstall(release: Files): Promise<Ran>;
  /** What it leaves in the namespace of the functions, if that stays. */
  leaves: readonly string[];
}

const ran = (command: string, args: readonly string[], cwd: string): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(command, args, { cwd, timeout: 600_000 }, (error, out, err) =>
      resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
    );
  });

async function succeeds(...args: Parameters<typeof ran>): Promise<string> {
  const { code, out, err } = await ran(...args);
  if (code === 0) return out;
  throw new Error(`${args[0]} ${args[1].join(' ')} ended with ${code}: ${err || out}`);
}

/** The commands of the chart's own README, by what they begin with; each is typed as it stands there, with the files of a release. */
async function readmeCommand({ folder }: Files, beginning: string): Promise<Parameters<typeof ran>> {
  const chart = (await readdir(folder)).find((name) => /^ot-functions-\d[\d.]*\.tgz$/.test(name)) ?? '';
  const readme = await succeeds('tar', ['-xOzf', chart, 'ot-functions/README.md'], folder);
  const line = readme.split('\n').find((one) => one.startsWith(beginning));
  if (!line) throw new Error(`expected the README of the chart to have a command ${beginning}, found none`);
  const [program = '', ...args] = line
    .replace(/ +#.*/, '')
    .replace(/oci:\S+/, chart)
    .split(' ');
  return [program === 'helm' ? helm : program, args, folder];
}

const typed = async (release: Files, beginning: string) => succeeds(...(await readmeCommand(release, beginning)));

const policyIn = ({ folder }: Files) => kubectlOrFail('apply', '--server-side', '-f', join(folder, 'policy.yaml'));

const operator = ['--namespace', 'sync-operator'];
const working = 'services.serving.knative.dev,brokers,triggers,apiserversources,pingsources';
const untilReady = () =>
  kubectlOrFail('wait', ...operator, '--for=condition=Ready', working, '--all', '--timeout=180s');

/** The bundled command, alone in a folder. */
async function bundled({ folder }: Files, ...args: string[]): Promise<Ran> {
  const alone = await mkdtemp(join(tmpdir(), 'ot-alone-'));
  try {
    await cp(join(folder, 'ot-functions.mjs'), join(alone, 'ot-functions.mjs'));
    return await ran(process.execPath, ['ot-functions.mjs', ...args], alone);
  } finally {
    await rm(alone, { recursive: true });
  }
}

async function bundledSucceeds(...args: Parameters<typeof bundled>) {
  const ended = await bundled(...args);
  expect(ended).toMatchObject({ code: 0, err: '' });
  return ended;
}

const ofAdmin = ['configmap/sync-operator-policy', 'secret/publication-keys'];

/** The chart, installed by its README's command with these options besides. */
const byChart = (...options: string[]) => ({
  missing: helmMissing,
  install: async (release: Files) => {
    const [program, args, folder] = await readmeCommand(release, 'helm install');
    await succeeds(program, [...args, ...options], folder);
    await policyIn(release);
  },
  upgrade: async (release: Files) => {
    await typed(release, 'kubectl apply');
    await typed(release, 'helm upgrade');
  },
  test: (release: Files) => typed(release, 'helm test'),
  uninstall: async (release: Files) => ran(...(await readmeCommand(release, 'helm uninstall'))),
  leaves: ofAdmin,
});

const onDeployments = byChart('--set', 'overlay=deployments', '--set', 'openstack.enabled=true');

export const chart: Way = { name: 'the chart, by the commands of its README', ...byChart() };

export const otherWays: readonly Way[] = [
  {
    name: 'the chart with Deployments and OpenStack, back to the release before and forward again',
    ...onDeployments,
    upgrade: async (release) => {
      await onDeployments.upgrade(release);
      for (const revision of ['1', '2'])
        await succeeds(helm, ['rollback', 'ot-functions', revision, ...operator, '--wait'], release.folder);
    },
  },
  {
    name: 'install.yaml, by kubectl',
    install: async (release) => {
      await kubectlOrFail('apply', '--server-side', '-f', join(release.folder, 'install.yaml'));
      await policyIn(release);
      await untilReady();
    },
    upgrade: async ({ folder }) => {
      await kubectlOrFail('apply', '--server-side', '--force-conflicts', '-f', join(folder, 'install.yaml'));
      await untilReady();
    },
    test: untilReady,
    uninstall: (release) => bundled(release, 'uninstall'),
    leaves: ofAdmin,
  },
  {
    name: 'the bundled command, alone in a folder',
    install: (release) => bundledSucceeds(release, 'install', '--overlay', 'deployments'),
    upgrade: (release) => bundledSucceeds(release, 'upgrade'),
    test: (release) => bundledSucceeds(release, 'check'),
    uninstall: (release) => bundled(release, 'uninstall'),
    leaves: [],
  },
];

const isTransferring = (image: VMDiskImage | undefined) =>
  image?.status?.phase === 'Syncing' && image.status.importer?.scratch === true;

const syncing = Array.from({ length: 20 }, (_, index) => `image-${String(index).padStart(2, '0')}`);
const patienceMs = 240_000;

/** A lab and twenty downloads see one release follow another by this way, and then its removal. */
function life(way: Way, now: Files): Story {
  const downloads = awaitedDownloads();
  downloads.release(['base']);
  return {
    name: `${way.name}: a workspace gets Ready, an upgrade loses and repeats none of ${syncing.length} downloads, and uninstall leaves nothing`,
    policy: { ...policyOf, concurrency: `${syncing.length}` },
    simulators: { cdi: { importImage: downloads.importImage } },
    run: async (world) => {
      const { history, namespace, store } = world;
      for (const name of ['base', ...syncing]) await putImage(world, name);
      const lab = await readyWorkspace(world, 'lab1', aLab(world), patienceMs);
      for (const name of syncing) await createImage(world, name);
      for (const name of syncing) await until(world, VMDiskImage, { namespace, name }, isTransferring, patienceMs);

      const fromMs = Date.now();
      const upgraded = way.upgrade(now);
      downloads.release(syncing.slice(0, syncing.length / 2));
      await upgraded;
      const tookS = (Date.now() - fromMs) / 1000;
      downloads.release(syncing);
      for (const name of syncing) await untilPhase(world, name, 'Succeeded', patienceMs);
      await way.test(now);
      // Pods of the release before end after their successors are Ready.
      await expect.poll(imagesThatRun, { timeout: 120_000, interval: 1000 }).toEqual([now.image]);
      const starts = history.starts().map(({ image }) => image);
      console.log(
        `result: ${way.name}: ${starts.length} downloads of ${syncing.length + 1} images; upgrade ${tookS} s`,
      );
      expect(starts.toSorted()).toEqual(['base', ...syncing]);
      const requests = (name: string) => store.requests(`${store.url}/images/${name}.qcow2`, 'GET');
      expect(syncing.map(requests)).toEqual(syncing.map(() => requests('base')));
      const { status } = await untilWorkspace(world, lab.metadata.name, 'Ready', patienceMs);
      expect(status?.readyAt).toBe(lab.status?.readyAt);

      const { code, out, err } = await way.uninstall(now);
      expect(code).not.toBe(0);
      expect(out + err).toContain(`expected no workspace, found Workspace ${lab.metadata.name}`);
      await untilWorkspace(world, lab.metadata.name, 'Ready');
      await deleteWorkspace(world, lab.metadata.name);
      await expectRemoved(world, way, now);
    },
  };
}

async function imagesThatRun(): Promise<string[]> {
  const running = ['--selector=app.kubernetes.io/part-of=ot-functions', '--field-selector=status.phase=Running'];
  const path = '--output=jsonpath={.items[*].spec.containers[?(@.args)].image}';
  return [...new Set((await kubectlOrFail('get', 'pods', ...operator, ...running, path)).split(' '))];
}

/** Uninstalls while images and a machine exist, which then can be deleted at once. */
async function expectRemoved(world: World, way: Way, now: Files): Promise<void> {
  const { kube, namespace } = world;
  const [first = ''] = syncing;
  await createMachine(world, 'kept', first);
  const machine = await untilMachine(world, 'kept', 'Ready', patienceMs);
  expect(machine.metadata.finalizers).toContain(imageReferenceFinalizer);
  const image = await kube.get(VMDiskImage, { namespace, name: first });
  expect(image?.metadata.finalizers).toContain(diskImageFinalizer);
  const fromMs = Date.now();
  expect(await way.uninstall(now)).toMatchObject({ code: 0 });
  console.log(`result: ${way.name}: uninstalled in ${(Date.now() - fromMs) / 1000} s`);
  const stay = [...(await kube.list(VMDiskImage, { namespace })), ...(await kube.list(VirtualMachine, { namespace }))];
  expect(stay).toHaveLength(syncing.length + 1);
  expect(stay.flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
  for (const kind of ['otvm', 'vmdi'])
    await kubectlOrFail('delete', kind, '--all', '--namespace', namespace, '--timeout=60s');
  expect(await kube.list(Workspace)).toEqual([]);
  expect(await leftInCluster()).toEqual([]);
  expect(await leftInNamespace()).toEqual(way.leaves);
}

/** Objects of ours of any kind, besides the definitions. */
async function leftInCluster(): Promise<string[]> {
  const kinds = (await kubectlOrFail('api-resources', '--verbs=list', '--output=name')).trim().split('\n');
  const ours = ['--all-namespaces', '--selector=app.kubernetes.io/part-of=ot-functions', '--output=name'];
  const out = await kubectlOrFail('get', kinds.join(','), ...ours);
  return namesIn(out).filter((name) => !name.startsWith('customresourcedefinition.'));
}

/** All objects in the namespace of the functions, besides those of every namespace. */
async function leftInNamespace(): Promise<string[]> {
  const kinds = await kubectlOrFail('api-resources', '--verbs=list', '--namespaced', '--output=name');
  const out = await kubectlOrFail('get', kinds.trim().split('\n').join(','), ...operator, '--output=name');
  return namesIn(out).filter((name) => !/^event|^(configmap\/kube-root-ca\.crt|serviceaccount\/default)$/.test(name));
}

const namesIn = (out: string) => out.split('\n').filter(Boolean);

/** A cluster on which nothing of ours is. */
async function startFresh(): Promise<void> {
  await prepare();
  const all = ['--delete-workspaces', '--delete-machines', '--delete-images', '--delete-crds'];
  expect(await runInstaller('uninstall', ...all)).toMatchObject({ code: 0 });
  await kubectl('delete', 'namespace', 'sync-operator', '--ignore-not-found', '--wait=true');
}

export const declareLives = (ways: readonly Way[]) =>
  describe('a release, of which there is nothing but its files', { timeout: 900_000 }, () => {
    let folder: string;
    const releases = {} as { before: Files; now: Files };
    const filesOf = async (name: string, checkout: string, image: string): Promise<Files> => {
      const output = join(folder, name);
      await mkdir(output);
      const args = ['deploy/release/main.ts', '--output', output, '--image', image];
      await promisify(execFile)(process.execPath, args, {
        cwd: checkout,
        env: { ...process.env, SOURCE_DATE_EPOCH: '1' },
      });
      return { folder: output, image };
    };
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'ot-releases-'));
      releases.now = await filesOf('now', root, imageUnderTest());
      const earlier = await buildReleaseBefore(commit);
      if (!earlier)
        console.warn(`skipped: ${commit} is not in the history of this checkout; this release stands in for it`);
      releases.before = earlier ? await filesOf('before', earlier.folder, earlier.image) : releases.now;
      if (earlier) await rm(earlier.folder, { recursive: true });
    }, 300_000);
    afterAll(async () => {
      await startFresh();
      await rm(folder, { recursive: true });
    });
    for (const way of ways)
      test.skipIf(way.missing)(`by ${way.name}`, async () => {
        await startFresh();
        await way.install(releases.before);
        await onRealCluster(life(way, releases.now), { kube: adminClient(), broker: '', goneWithinMs: 120_000 });
      });
  });
