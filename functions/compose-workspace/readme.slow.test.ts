import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Job } from '../../shared/kinds/batch/job.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { putImage } from '../../test/stories/images.ts';
import { hasKubectl, onLocalCluster } from '../../test/stories/local-world.ts';
import { untilWorkspace } from '../../test/stories/workspaces.ts';
import { setPolicy, type World } from '../../test/stories/world.ts';

const isKubectlThere = await hasKubectl();
if (!isKubectlThere) console.warn('skipped: the commands of the page need kubectl on the PATH');

/** What a reader of both pages types, block by block. */
const pages = await Promise.all(
  ['README.md', 'MIGRATION.md'].map((name) => readFile(new URL(name, import.meta.url), 'utf8')),
);
const blocks = [...pages.join('\n').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);

/** The blocks, or lines of them, that hold these words; exactly one does. */
function typed(words: string, from: readonly string[] = blocks): string {
  const found = from.filter((text) => text.includes(words));
  expect(found, words).toHaveLength(1);
  return found[0] ?? '';
}
const line = (words: string) =>
  typed(
    words,
    blocks.flatMap((text) => text.split('\n')),
  );

const name = 'demo-workspace-1';
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs commands as a person's shell does, where the project is checked out; the home has a key for machines. */
async function shell(kubeconfig: string) {
  const home = await mkdtemp(join(tmpdir(), 'ot-page-'));
  onTestFinished(() => rm(home, { recursive: true }));
  await mkdir(join(home, '.ssh'));
  await writeFile(join(home, '.ssh/id_ed25519'), 'a key of the tests');
  await writeFile(join(home, 'kubeconfig'), kubeconfig);
  const env = { PATH: process.env.PATH ?? '', HOME: home, KUBECONFIG: join(home, 'kubeconfig') };
  return (script: string) =>
    new Promise<string>((resolve, reject) => {
      execFile('sh', ['-ec', script], { env, cwd: root, timeout: 120_000 }, (error, out, err) =>
        error ? reject(new Error(`${script}\n${out}${err}`)) : resolve(out),
      );
    });
}

/** The page's commands are typed on a local cluster whose policy says where images of labs are. */
async function onThePage(read: (world: World, type: (script: string) => Promise<string>) => Promise<void>) {
  let kubeconfig = '';
  const story = {
    name: 'the page',
    policy: { imageNamespaces: 'lab' },
    run: async (world: World) => {
      await putImage(world, 'demo-vmdi');
      await setPolicy(world, { imageUrlTemplate: `${world.store.url}/images/{name}.qcow2`, imageDiskSize: '64Mi' });
      await read(world, await shell(kubeconfig));
    },
  };
  await onLocalCluster(story, undefined, async ({ server }) => {
    kubeconfig = server.kubeconfig();
  });
}

/** Containers of the local cluster do not run, and have no log. */
const untyped = ['kubectl logs'];

describe.skipIf(!isKubectlThere)('the page, typed', { timeout: 120_000 }, () => {
  test('applies the first workspace, shows it and its parts, waits for it, hands a claim over, and deletes it', async () => {
    await onThePage(async ({ kube }, type) => {
      expect(await type(typed('kubectl apply -f crds/examples/workspace.yaml'))).toMatch(/NAME +PHASE +REASON +READY/);
      expect(await type(line('kubectl wait otws/'))).toContain('condition met');
      const parts = await type(line('.status.components'));
      expect(parts).toMatch(/^VirtualMachine\tdemo-vm\tReady\t/m);
      expect(parts).toMatch(/^ContainerCluster\tdemo-app\tReady\t/m);

      await type(typed('kubectl patch pvc dnsconfig'));
      const claim = await kube.get(PersistentVolumeClaim, { namespace: `ws-${name}`, name: 'dnsconfig' });
      const lab = await kube.get(Workspace, { name });
      expect(claim?.metadata.ownerReferences).toMatchObject([{ uid: lab?.metadata.uid, controller: true }]);

      await type(line('kubectl delete otws demo-workspace-1'));
      expect(await kube.get(Workspace, { name })).toBeUndefined();
    });
  });

  test('has no command that is not typed here', () => {
    const here = [
      ...['kubectl apply', '.status.components', 'kubectl wait otws/', 'kubectl patch pvc dnsconfig'],
      ...['ansibleRunnerImage', 'pelotech.ot/roles-requested', ...untyped],
    ];
    expect(blocks.filter((block) => !here.some((words) => block.includes(words)))).toEqual([]);
  });

  test('has roles run by the image that the policy names, and runs them again', async () => {
    await onThePage(async ({ kube }, type) => {
      await type(typed('ansibleRunnerImage'));
      await type(
        'kubectl patch configmap sync-operator-policy -n sync-operator --type merge -p \'{"data":{"ignoreOnDeploy":"Start"}}\'',
      );
      await type(typed('kubectl apply -f crds/examples/workspace.yaml'));
      const first = await untilWorkspace({ kube }, name, 'Ready');
      expect(first.status?.components).toContainEqual(
        expect.objectContaining({ kind: 'AnsibleRoles', phase: 'Ready', reason: 'RolesDeployed' }),
      );
      const jobs = () => kube.list(Job, { namespace: `ws-${name}` });
      const before = (await jobs()).map(({ metadata }) => metadata.uid);
      await type(line('pelotech.ot/roles-requested'));
      await expect
        .poll(async () => (await jobs()).some(({ metadata }) => !before.includes(metadata.uid)), { timeout: 30_000 })
        .toBe(true);
      await untilWorkspace({ kube }, name, 'Ready');
    });
  });
});
