import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { facts } from '../../../shared/events.ts';
import { buildGo, goMissing } from '../../support/tools/go.ts';

if (goMissing) console.log(`skipped: Argo Events is not asked: ${goMissing}`);

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const example = here('../../../deploy/pipelines/argo-events.yaml');

const failed = 'ot.pelotech.disk-image.failed.v1';
const body = facts[failed].parse({
  namespace: 'vmdi-farm',
  name: 'ubuntu',
  uid: '1f0c1c5e-9f1b-4d33-8d0a-0c6a4ff0e2a1',
  time: '2026-11-27T17:00:00Z',
  revision: 3,
  url: 'https://s3.example.com/vm-images/ubuntu.qcow2',
  phase: 'Failed',
  reason: 'SourceMissing',
  message: 'The source does not exist: 404.',
});

/** An event in binary mode, with the headers as Go names them. */
const posted = (type: string) => ({
  header: { 'Ce-Type': [type], 'Ce-Id': ['failed/1'], 'Ce-Subject': ['vmdi-farm/ubuntu'] },
  body,
});

test.skipIf(goMissing)(
  'the code of Argo Events takes the example, and makes a Workflow of an image that failed and of nothing else',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ot-argo-events-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const program = await buildGo(new URL('sensor', import.meta.url), folder);
    const requests = [failed, 'ot.pelotech.disk-image.succeeded.v1', `x${failed}`].map(posted);
    const input = requests.map((request) => JSON.stringify(request)).join('\n');
    const [workflow = '', ...others] = execFileSync(program, [example], { input, encoding: 'utf8' }).trim().split('\n');
    expect(JSON.parse(workflow)).toMatchObject({
      kind: 'Workflow',
      metadata: { generateName: 'failed-image-', annotations: { 'image-event': 'failed/1' } },
      spec: {
        arguments: {
          parameters: [
            { name: 'image', value: 'vmdi-farm/ubuntu' },
            { name: 'message', value: 'The source does not exist: 404.' },
          ],
        },
      },
    });
    expect(others).toEqual(['filtered', 'filtered']);
  },
  600_000,
);
