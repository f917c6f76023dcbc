import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { ImagePublished } from '../../shared/events.ts';
import { putImage } from '../../test/journeys/images.ts';
import { onLocalCluster } from '../../test/journeys/local-world.ts';
import { hasCurl } from '../../test/journeys/preload.ts';
import { setPolicy, untilPhase } from '../../test/journeys/world.ts';

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}
interface Workflow {
  on: unknown;
  env: Record<string, string>;
  jobs: Record<string, { 'runs-on': string; steps: Step[] }>;
}
interface Job {
  stage: string;
  script: string[];
}

/** A YAML file without as much as a warning in it. */
async function readYaml<T>(name: string): Promise<T> {
  const document = parseDocument(await readFile(new URL(name, import.meta.url), 'utf8'));
  expect([...document.errors, ...document.warnings]).toEqual([]);
  return document.toJS() as T;
}

const workflow = await readYaml<Workflow>('github-actions.yml');
const gitlab = await readYaml<Record<string, Job>>('gitlab-ci.yml');
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
const lastStep = steps.at(-1) ?? {};

/** The script that posts the event, and what its CI sets for it. */
const examples: Readonly<Record<string, { script: string; variables: Record<string, string> }>> = {
  'GitHub Actions': {
    script: lastStep.run ?? '',
    variables: {
      GITHUB_RUN_ID: '4711',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_REPOSITORY: 'labs/images',
    },
  },
  'GitLab CI': {
    script: gitlab['preload-image']?.script.join('\n') ?? '',
    variables: { CI_JOB_ID: '4711', CI_PROJECT_URL: 'https://gitlab.example/labs/images' },
  },
};

const image = { IMAGE_NAME: 'lab-151-attacker', IMAGE_VERSION: 'v1.0.0', IMAGE_DIGEST: `sha256:${'a'.repeat(64)}` };

/** Runs a script as a runner does: the first failure ends it. */
const run = (script: string, variables: Record<string, string>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const env = { PATH: process.env.PATH ?? '', ...image, OT_BROKER_TOKEN: 'a-token', ...variables };
    const child = execFile('sh', ['-ec', script], { env, timeout: 30_000 }, (error, out, err) =>
      resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
    );
  });

/** A gateway that answers one request after the other with these statuses, and what it was sent. */
async function gateway(...statuses: number[]) {
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(statuses[received.length - 1] ?? 202).end(statuses[received.length - 1] === 400 ? 'no' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise((resolve) => server.close(resolve));
  return { received, OT_BROKER_URL: `http://127.0.0.1:${port}/sync-operator/default`, close };
}

test('the GitHub workflow is one: every step uses an action or runs a script that a shell can read', async () => {
  expect(Object.keys(workflow).sort()).toEqual(['env', 'jobs', 'name', 'on', 'permissions']);
  for (const step of steps) {
    expect([step.uses, step.run].filter(Boolean)).toHaveLength(1);
    if (step.uses) expect(step.uses).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
    const script = (step.run ?? '').replace(/\$\{\{.*?\}\}/g, 'x');
    expect(await run(`set -n\n${script}`, {})).toMatchObject({ code: 0, err: '' });
  }
  for (const name of ['OT_BROKER_URL', 'OT_BROKER_TOKEN']) {
    expect(lastStep.env?.[name]).toMatch(new RegExp(`^\\$\\{\\{ secrets\\.${name} \\}\\}$`));
  }
});

test('the GitLab jobs are ones: each has a known stage and scripts that a shell can read', async () => {
  const { stages, variables, ...jobs } = gitlab as unknown as Record<string, Job> & { stages: string[] };
  expect(Object.keys(variables ?? {})).toEqual(['IMAGE_NAME', 'IMAGE_VERSION']);
  for (const { stage, script } of Object.values(jobs)) {
    expect(stages).toContain(stage);
    for (const line of script) expect(await run(`set -n\n${line}`, {})).toMatchObject({ code: 0, err: '' });
  }
});

const isCurlThere = await hasCurl();
if (!isCurlThere) console.warn('skipped: the scripts of deploy/pipelines need curl on the PATH');

describe.skipIf(!isCurlThere).each(Object.entries(examples))('the script for %s', (_, { script, variables }) => {
  test('posts an event whose data fits, with the token, and again under the same id while nobody answers well', async () => {
    const { received, close, ...url } = await gateway(503);
    expect(await run(script, { ...variables, ...url })).toMatchObject({ code: 0 });
    await close();
    expect(received).toHaveLength(2);
    for (const { headers, body } of received) {
      expect(headers).toMatchObject({
        authorization: 'Bearer a-token',
        'ce-specversion': '1.0',
        'ce-type': 'ot.pelotech.image.published.v1',
        'ce-source': expect.stringMatching(/^https:\/\/.*labs\/images$/),
        'ce-time': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        'ce-id': received[0]?.headers['ce-id'],
      });
      expect(ImagePublished.parse(JSON.parse(body))).toEqual({
        name: image.IMAGE_NAME,
        version: image.IMAGE_VERSION,
        digest: image.IMAGE_DIGEST,
      });
    }
  });

  test('fails at once where the answer is no, and shows it', async () => {
    const { received, close, ...url } = await gateway(400);
    expect(await run(script, { ...variables, ...url })).toMatchObject({ code: 22, out: 'no' });
    await close();
    expect(received).toHaveLength(1);
  });

  test('shows the token in no process list', async () => {
    const seen = 'curl() { printf "%s\\n" "$@"; cat > /dev/null; }\n';
    const { code, out } = await run(seen + script, { ...variables, OT_BROKER_URL: 'http://gateway.example/' });
    expect({ code, lines: out.trim().split('\n') }).toMatchObject({ code: 0, lines: expect.arrayContaining(['@-']) });
    expect(out).not.toContain('a-token');
  });

  test.each(['IMAGE_NAME', 'IMAGE_VERSION', 'IMAGE_DIGEST', 'OT_BROKER_URL', 'OT_BROKER_TOKEN'])(
    'fails before it posts where %s is empty',
    async (name) => {
      const { received, close, ...url } = await gateway();
      const { code, err } = await run(script, { ...variables, ...url, [name]: '' });
      await close();
      expect({ isFailed: code !== 0, err, received }).toMatchObject({ isFailed: true, received: [] });
      expect(err).toContain(name);
    },
  );

  test(
    'makes an image on a cluster',
    () =>
      onLocalCluster({
        name: 'pipeline',
        run: async (world) => {
          await putImage(world, 'lab', { key: `${image.IMAGE_NAME}/${image.IMAGE_VERSION}/vm.qcow2` });
          await setPolicy(world, {
            imageNamespaces: world.namespace,
            imageUrlTemplate: `${world.store.url}/images/{name}/{version}/vm.qcow2`,
            imageDiskSize: '64Mi',
          });
          expect(await run(script, { ...variables, OT_BROKER_URL: world.broker })).toMatchObject({ code: 0, err: '' });
          await untilPhase(world, image.IMAGE_NAME, 'Succeeded');
        },
      }),
    60_000,
  );
});
