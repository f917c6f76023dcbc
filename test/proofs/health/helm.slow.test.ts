import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { putImage } from '../../stories/images.ts';
import { onLocalCluster } from '../../stories/local-world.ts';
import { findHelm } from '../../support/tools/go/tools.ts';
import { writeImageChart } from './image-chart.ts';

const { path: helm, missing } = await findHelm();
if (missing) console.log(`skipped: Helm 4 waits for images only where it can be built: ${missing}`);

const run = promisify(execFile);

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

test.skipIf(missing).each(cases)(
  'helm install --wait $does',
  async ({ isThere, policy = {}, timeout, says }) => {
    let kubeconfig = '';
    await onLocalCluster(
      {
        name: 'helm install --wait',
        policy,
        run: async (world) => {
          await putImage(world, isThere ? 'ubuntu' : 'debian');
          const chart = await mkdtemp(join(tmpdir(), 'ot-helm-'));
          onTestFinished(() => rm(chart, { recursive: true }));
          await writeImageChart(chart, 'ubuntu', `${world.store.url}/images/ubuntu.qcow2`);
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
