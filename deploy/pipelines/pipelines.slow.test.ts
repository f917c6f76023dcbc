import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { ImagePublished } from '../../shared/events.ts';
import { publicationKeysRef } from '../../shared/images/signature.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { putImage } from '../../test/stories/images.ts';
import { onLocalCluster } from '../../test/stories/local-world.ts';
import { hasCurl } from '../../test/stories/preload.ts';
import { setPolicy, untilPhase, type World } from '../../test/stories/world.ts';
import { publicationKey } from '../../test/support/builders/publications.ts';
import { withGatewayBefore } from '../../test/support/harness/gateway.ts';

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

const workflows = {
  'GitHub Actions': await readYaml<Workflow>('github-actions.yml'),
  'GitHub Actions, gateway': await readYaml<Workflow>('github-actions-gateway.yml'),
};
const gitlabs = {
  'GitLab CI': await readYaml<Record<string, Job>>('gitlab-ci.yml'),
  'GitLab CI, gateway': await readYaml<Record<string, Job>>('gitlab-ci-gateway.yml'),
};
const inCluster = await readYaml<{ spec: { template: { spec: { containers: [{ args: string[] }] } } } }>(
  'in-cluster-job.yaml',
);

const stepsOf = (workflow: Workflow) => Object.values(workflow.jobs).flatMap((job) => job.steps);
const lastStepOf = (workflow: Workflow) => stepsOf(workflow).at(-1) ?? {};
const scriptOf = (gitlab: Record<string, Job>) => gitlab['preload-image']?.script.join('\n') ?? '';

/** A script that posts the event: what its CI sets for it, where it posts to, and what has to be set besides. */
interface Example {
  script: string;
  variables: Record<string, string>;
  url: 'OT_BROKER_URL' | 'OT_GATEWAY_URL';
  needs: readonly string[];
}

const github = {
  GITHUB_RUN_ID: '4711',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_SERVER_URL: 'https://github.example',
  GITHUB_REPOSITORY: 'labs/images',
};
const gitlab = { CI_JOB_ID: '4711', CI_PROJECT_URL: 'https://gitlab.example/labs/images' };
const tokenFile = join(await mkdtemp(join(tmpdir(), 'pipelines-')), 'token');
beforeAll(() => writeFile(tokenFile, 'a-token'));
afterAll(() => rm(join(tokenFile, '..'), { recursive: true }));

const examples: Readonly<Record<string, Example>> = {
  'GitHub Actions': {
    script: lastStepOf(workflows['GitHub Actions']).run ?? '',
    variables: { ...github, OT_BROKER_TOKEN: 'a-token', OT_SIGNING_KEY: publicationKey },
    url: 'OT_BROKER_URL',
    needs: ['OT_BROKER_TOKEN', 'OT_SIGNING_KEY'],
  },
  'GitLab CI': {
    script: scriptOf(gitlabs['GitLab CI']),
    variables: { ...gitlab, OT_BROKER_TOKEN: 'a-token', OT_SIGNING_KEY: publicationKey },
    url: 'OT_BROKER_URL',
    needs: ['OT_BROKER_TOKEN', 'OT_SIGNING_KEY'],
  },
  'GitHub Actions, gateway': {
    script: lastStepOf(workflows['GitHub Actions, gateway']).run ?? '',
    variables: { ...github, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'a-request-token', OT_GATEWAY_AUDIENCE: 'ot-preload' },
    url: 'OT_GATEWAY_URL',
    needs: ['ACTIONS_ID_TOKEN_REQUEST_URL', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'OT_GATEWAY_AUDIENCE'],
  },
  'GitLab CI, gateway': {
    script: scriptOf(gitlabs['GitLab CI, gateway']),
    variables: { ...gitlab, OT_ID_TOKEN: 'a-token' },
    url: 'OT_GATEWAY_URL',
    needs: ['OT_ID_TOKEN'],
  },
  'a runner in the cluster': {
    script: inCluster.spec.template.spec.containers[0].args.join('\n'),
    variables: {
      POD_UID: '4711',
      PIPELINE: 'https://ci.example/labs/images',
      OT_TOKEN_FILE: tokenFile,
      OT_SIGNING_KEY: publicationKey,
    },
    url: 'OT_BROKER_URL',
    needs: ['OT_TOKEN_FILE', 'OT_SIGNING_KEY'],
  },
};

const gatewayExample = {
  variables: { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'a-request-token', OT_GATEWAY_AUDIENCE: 'ot-preload' },
  url: 'OT_GATEWAY_URL',
  needs: [],
} as const;

const image = { IMAGE_NAME: 'lab-151-attacker', IMAGE_VERSION: 'v1.0.0', IMAGE_DIGEST: `sha256:${'a'.repeat(64)}` };

/** Runs a script as a runner does: the first failure ends it. */
const run = (script: string, variables: Record<string, string>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const env = { PATH: process.env.PATH ?? '', ...image, ...variables };
    const child = execFile('sh', ['-ec', script], { env, timeout: 30_000 }, (error, out, err) =>
      resolve({ code: error ? (child.exitCode ?? 1) : 0, out, err }),
    );
  });

/** Answers one request after the other with these statuses, and what it was sent; asked for it, gives out a token as GitHub does. */
async function listener({ statuses = [], token = 'a-token' }: { statuses?: number[]; token?: string } = {}) {
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const asked: { url: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/token')) {
      asked.push({ url: request.url, headers: request.headers });
      return response.end(JSON.stringify({ count: 1, value: token }));
    }
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    const status = statuses[received.length - 1] ?? 202;
    return response.writeHead(status).end(status === 400 ? 'no' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => new Promise((resolve) => server.close(resolve));
  const variables = {
    OT_BROKER_URL: `${origin}/sync-operator/default`,
    OT_GATEWAY_URL: `${origin}/`,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/token?api-version=2.0`,
  };
  return { received, asked, variables, close };
}

test.each(Object.entries(workflows))(
  '%s is a workflow: every step uses an action or runs a script that a shell can read',
  async (name, workflow) => {
    expect(Object.keys(workflow).sort()).toEqual(['env', 'jobs', 'name', 'on', 'permissions']);
    for (const step of stepsOf(workflow)) {
      expect([step.uses, step.run].filter(Boolean)).toHaveLength(1);
      if (step.uses) expect(step.uses).toMatch(/^[\w-]+\/[\w-]+@v\d+$/);
      const script = (step.run ?? '').replace(/\$\{\{.*?\}\}/g, 'x');
      expect(await run(`set -n\n${script}`, {})).toMatchObject({ code: 0, err: '' });
    }
    const secrets = name.includes('gateway') ? [] : ['OT_BROKER_TOKEN', 'OT_BROKER_URL', 'OT_SIGNING_KEY'];
    const used = Object.values(lastStepOf(workflow).env ?? {}).flatMap(
      (value) => /secrets\.(\w+)/.exec(value)?.[1] ?? [],
    );
    expect(used.sort()).toEqual(secrets);
  },
);

test.each(Object.entries(gitlabs))(
  '%s is jobs: each has a known stage and scripts that a shell can read',
  async (_, file) => {
    const { stages, variables, ...jobs } = file as unknown as Record<string, Job> & { stages: string[] };
    expect(Object.keys(variables ?? {})).toEqual(['IMAGE_NAME', 'IMAGE_VERSION']);
    for (const { stage, script } of Object.values(jobs)) {
      expect(stages).toContain(stage);
      for (const line of script) expect(await run(`set -n\n${line}`, {})).toMatchObject({ code: 0, err: '' });
    }
  },
);

const isCurlThere = (await hasCurl()) && (await run('openssl version', {})).code === 0;
if (!isCurlThere) console.warn('skipped: the scripts of deploy/pipelines need curl and openssl on the PATH');

/** Standard Webhooks' own verification, with the names that it has for the same attributes. */
const expectSigned = (headers: IncomingHttpHeaders, body: string) => {
  const verifying = new Webhook(publicationKey);
  const its = { id: 'ce-id', timestamp: 'ce-webhooktimestamp', signature: 'ce-webhooksignature' };
  const named = Object.entries(its).map(([name, header]) => [`webhook-${name}`, String(headers[header])]);
  expect(verifying.verify(body, Object.fromEntries(named))).toEqual(JSON.parse(body));
};

describe.skipIf(!isCurlThere).each(Object.entries(examples))('the script for %s', (_, example) => {
  const { script, variables, url, needs } = example;
  test('posts an event whose data fits, with the token, and again under the same id while no answer is a success', async () => {
    const { received, asked, close, ...there } = await listener({ statuses: [503] });
    expect(await run(script, { ...there.variables, ...variables })).toMatchObject({ code: 0 });
    await close();
    for (const { url, headers } of asked) {
      expect({ url, ...headers }).toMatchObject({
        url: '/token?api-version=2.0&audience=ot-preload',
        authorization: 'Bearer a-request-token',
      });
    }
    expect(received).toHaveLength(2);
    for (const { headers, body } of received) {
      expect(headers).toMatchObject({
        authorization: 'Bearer a-token',
        'ce-specversion': '1.0',
        'ce-type': 'ot.pelotech.image.published.v1',
        'ce-source': expect.stringMatching(/^https:\/\/.*labs\/images$/),
        'ce-id': received[0]?.headers['ce-id'],
      });
      if (url === 'OT_BROKER_URL') expectSigned(headers, body);
      else expect(headers['ce-time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(ImagePublished.parse(JSON.parse(body))).toEqual({
        name: image.IMAGE_NAME,
        version: image.IMAGE_VERSION,
        digest: image.IMAGE_DIGEST,
      });
    }
  });

  test('fails at once where the answer is no, and shows it', async () => {
    const { received, close, ...there } = await listener({ statuses: [400] });
    expect(await run(script, { ...there.variables, ...variables })).toMatchObject({ code: 22, out: 'no' });
    await close();
    expect(received).toHaveLength(1);
  });

  // But the key in that of openssl.
  test('shows no token and no key in the process list of curl', async () => {
    const seen =
      'curl() { cat > /dev/null; printf "%s\\n" "$@" >&2; case "$*" in *audience=*) echo "{\\"value\\": \\"a-token\\"}" ;; esac; }\n';
    const there = { [url]: 'http://way-in.example/', ACTIONS_ID_TOKEN_REQUEST_URL: 'http://token.example/?a=b' };
    const { code, err } = await run(seen + script, { ...variables, ...there });
    expect({ code, lines: err.trim().split('\n') }).toMatchObject({ code: 0, lines: expect.arrayContaining(['@-']) });
    expect(err).not.toMatch(/a-token|a-request-token|whsec_/);
  });

  test.each(['IMAGE_NAME', 'IMAGE_VERSION', 'IMAGE_DIGEST', url, ...needs])(
    'fails before it posts where %s is empty',
    async (name) => {
      const { received, close, ...there } = await listener();
      const { code, err } = await run(script, { ...there.variables, ...variables, [name]: '' });
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
          await throughWayIn(example, world, async (there) => {
            expect(await run(script, { ...variables, ...there })).toMatchObject({ code: 0, err: '' });
          });
          await untilPhase(world, image.IMAGE_NAME, 'Succeeded');
        },
      }),
    60_000,
  );
});

describe.skipIf(!isCurlThere)('the GitHub Action, against the gateway itself', () => {
  test('waits until the image is Ready; one that is missing at its source ends it with 1 and the cause', async () => {
    const { runs } = await readYaml<{ runs: { steps: [{ run: string }] } }>('preload/action.yml');
    await onLocalCluster({
      name: 'action',
      run: async (world) => {
        await putImage(world, 'lab', { key: 'lab-1/v1.0.0/vm.qcow2' });
        await setPolicy(world, {
          imageNamespaces: world.namespace,
          imageUrlTemplate: `${world.store.url}/images/{name}/{version}/vm.qcow2`,
          imageDiskSize: '64Mi',
        });
        await throughWayIn({ ...gatewayExample, script: '' }, world, async (there) => {
          const given = {
            OT_EVENT_ID: '1',
            OT_EVENT_SOURCE: 'https://github.example/labs/images',
            OT_POLL_SECONDS: '1',
          };
          const action = (name: string) =>
            run(runs.steps[0].run, { ...gatewayExample.variables, ...given, ...there, IMAGE_NAME: name });
          expect(await action('lab-1')).toMatchObject({ code: 0, out: expect.stringContaining('"end":"ready"') });
          const missing = await action('lab-2');
          expect(missing).toMatchObject({ code: 1, out: expect.stringMatching(/"end":"failed".*NoSuchKey/) });
        });
      },
    });
  }, 60_000);
});

describe.skipIf(!isCurlThere)("the example of preload's README", () => {
  test('makes an image on a cluster, with the key that its Secret has', async () => {
    const readme = await readFile(new URL('../../functions/preload/README.md', import.meta.url), 'utf8');
    const example = /```sh\n(BROKER_URL[^`]*)```/.exec(readme)?.[1] ?? '';
    await onLocalCluster({
      name: 'example',
      run: async (world) => {
        const { kube, namespace, store, broker } = world;
        await putImage(world, 'debian-12', { key: 'debian-12.qcow2' });
        await setPolicy(world, { imageNamespaces: namespace, imageDiskSize: '64Mi' });
        const key = (await kube.get(Secret, publicationKeysRef))?.data?.first ?? '';
        const script = example
          .replace(/^BROKER_URL=\S+/, `BROKER_URL=${broker}`)
          .replace(/\$\(kubectl [^|]*\|/, `$(printf %s '${key}' |`)
          .replace('http://127.0.0.1:19000', store.url);
        expect(await run(script, {})).toMatchObject({ code: 0 });
        await untilPhase(world, 'debian-12', 'Succeeded');
      },
    });
  }, 60_000);
});

/** With the variables of the Broker itself, or of a gateway before it that knows the tokens of the pipeline's CI. */
async function throughWayIn(
  { url }: Example,
  { broker, kube }: Pick<World, 'broker' | 'kube'>,
  use: (variables: Record<string, string>) => Promise<void>,
): Promise<void> {
  if (url === 'OT_BROKER_URL') return use({ OT_BROKER_URL: broker });
  return withGatewayBefore({ kube, broker }, async (gateway) => {
    const github = await listener({ token: gateway.token });
    await use({ ...github.variables, OT_GATEWAY_URL: gateway.url, OT_ID_TOKEN: gateway.token }).finally(github.close);
  });
}
