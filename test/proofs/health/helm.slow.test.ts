import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from '../../stories/images.ts';
import { onLocalCluster } from '../../stories/local-world.ts';
import type { World } from '../../stories/world.ts';
import { findHelm } from '../../support/tools/helm/helm.ts';

const found = await findHelm();
const { path: helm } = { path: '', ...found };
if (found.missing) console.log(`skipped: Helm 4 waits for images only where it can be built: ${found.missing}`);

const run = promisify(execFile);

/** A Helm chart of one image, which is what users add to a chart of theirs. */
async function aChart({ store }: Pick<World, 'store'>, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ot-helm-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const image = {
    apiVersion: VMDiskImage.apiVersion,
    kind: VMDiskImage.kind,
    metadata: { name },
    spec: {
      storageClass: 'gp3',
      snapshotClass: 'ebs-snapshot',
      secretRef: 's3-reader',
      url: `${store.url}/images/${name}.qcow2`,
      diskSize: '64Mi',
    },
  };
  await mkdir(join(folder, 'templates'));
  await writeFile(join(folder, 'Chart.yaml'), stringify({ apiVersion: 'v2', name, version: '0.1.0' }));
  await writeFile(join(folder, 'templates/image.yaml'), stringify(image));
  return folder;
}

const cases: readonly {
  does: string;
  isThere: boolean;
  policy?: Record<string, string>;
  timeout: string;
  says: string | RegExp;
}[] = [
  { does: 'returns as soon as the image is usable', isThere: true, timeout: '60s', says: /STATUS: deployed/ },
  {
    does: 'ends with the cause as soon as the image has failed',
    isThere: false,
    timeout: '10m',
    says: /VMDiskImage\/lab\/ubuntu not ready\. status: Failed, message: .*NoSuchKey/,
  },
  {
    does: 'says at its timeout what the image waits for',
    isThere: true,
    policy: { concurrency: '0' },
    timeout: '5s',
    says: /VMDiskImage\/lab\/ubuntu not ready\. status: InProgress, message: .*paused/,
  },
];

test.skipIf(found.missing).each(cases)(
  'helm install --wait $does',
  async ({ isThere, policy = {}, timeout, says }) => {
    let kubeconfig = '';
    await onLocalCluster(
      {
        name: 'helm install --wait',
        policy,
        run: async (world) => {
          await putImage(world, isThere ? 'ubuntu' : 'debian');
          const chart = await aChart(world, 'ubuntu');
          await writeFile(join(chart, 'kubeconfig'), kubeconfig);
          const args = ['install', 'ubuntu', chart, '--namespace', world.namespace, '--wait', '--timeout', timeout];
          const env = { ...process.env, KUBECONFIG: join(chart, 'kubeconfig') };
          const said = await run(helm, args, { env, timeout: 90_000 }).then(
            ({ stdout }) => stdout,
            ({ stderr }: { stderr: string }) => stderr,
          );
          expect(said).toMatch(says);
        },
      },
      undefined,
      async ({ server }) => {
        kubeconfig = server.kubeconfig();
      },
    );
  },
  120_000,
);
