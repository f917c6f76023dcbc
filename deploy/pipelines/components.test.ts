import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ImagePublished } from '../../shared/events.ts';
import { hasCurl } from '../../test/stories/preload.ts';

const read = async (name: string) =>
  parseAllDocuments(await readFile(new URL(name, import.meta.url), 'utf8')).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS();
  });

const [action] = await read('preload/action.yml');
const [inputs, gitlab] = await read('templates/preload.yml');
const [task] = await read('tekton-task.yaml');
const folder = await mkdtemp(join(tmpdir(), 'components-'));
beforeAll(() => writeFile(join(folder, 'token'), 'a-token'));
afterAll(() => rm(folder, { recursive: true }));

/** A component: its script, the names that it sets variables from, and what its CI gives it. */
const components = {
  'GitHub Action': {
    script: action.runs.steps[0].run as string,
    variables: action.runs.steps[0].env as Record<string, string>,
    declared: action.inputs,
    given: { OT_EVENT_ID: '1', OT_EVENT_SOURCE: 'https://ci/labs', ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'a-request-token' },
  },
  'GitLab component': {
    script: gitlab['$[[ inputs.job ]]'].script.join('\n') as string,
    variables: gitlab['$[[ inputs.job ]]'].variables as Record<string, string>,
    declared: inputs.spec.inputs,
    given: { CI_JOB_ID: '1', CI_PROJECT_URL: 'https://ci/labs', OT_ID_TOKEN: 'a-token' },
  },
  'Tekton Task': {
    script: task.spec.steps[0].script as string,
    variables: Object.fromEntries(
      (task.spec.steps[0].env as { name: string; value: string }[]).map(({ name, value }) => [name, value]),
    ),
    declared: Object.fromEntries((task.spec.params as { name: string }[]).map((param) => [param.name, param])),
    given: { OT_EVENT_ID: '1', OT_EVENT_SOURCE: 'https://ci/labs', OT_TOKEN_FILE: join(folder, 'token') },
  },
};

test.each(Object.entries(components))(
  '%s uses each input that it declares, and no other',
  (_, { variables, declared }) => {
    const used = Object.values(variables).flatMap((value) => [
      ...String(value).matchAll(/(?:inputs|params)\.([\w-]+)/g),
    ]);
    const elsewhere = ['audience', 'stage', 'job'];
    const without = (names: Iterable<string>) => [...new Set(names)].filter((name) => !elsewhere.includes(name)).sort();
    expect(without(used.map(([, name = '']) => name))).toEqual(without(Object.keys(declared)));
  },
);

const image = { IMAGE_NAME: 'lab-1', IMAGE_VERSION: 'v1', IMAGE_DIGEST: `sha256:${'a'.repeat(64)}` };

/** Runs a script as its CI does. */
const run = (script: string, env: Record<string, string>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const child = execFile(
      'sh',
      ['-e', '-c', script],
      { env: { PATH: process.env.PATH ?? '', ...env } },
      (_, out, err) => resolve({ code: child.exitCode ?? 1, out, err }),
    );
  });

/** A gateway that answers a POST with `status`, and each GET with the next of these phases. */
async function gateway(status: number, ...ends: (string | undefined)[]) {
  const posted: { headers: IncomingHttpHeaders; body: string }[] = [];
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    if (request.url?.startsWith('/token')) return response.end('{"count":1,"value":"a-token"}');
    if (request.method === 'POST') {
      posted.push({ headers: request.headers, body });
      return response.writeHead(status).end(status === 202 ? '' : '{"error":"why"}');
    }
    asked.push(`${request.headers.authorization} ${request.url}`);
    const end = ends[asked.length - 1];
    if (end === 'missing') return response.writeHead(404).end('{"error":"expected an image"}');
    return response.end(JSON.stringify({ name: 'lab-1', phase: 'P', ...(end ? { end } : {}), message: 'm' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    posted,
    asked,
    close: () => new Promise((resolve) => server.close(resolve)),
    variables: {
      OT_GATEWAY_URL: `${origin}/`,
      OT_GATEWAY_AUDIENCE: 'ot-preload',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${origin}/token?v=2`,
      OT_POLL_SECONDS: '0',
    },
  };
}

const isCurlThere = await hasCurl();
if (!isCurlThere) console.warn('skipped: the components of deploy/pipelines need curl on the PATH');

describe.skipIf(!isCurlThere).each(Object.entries(components))('%s', (_, { script, given }) => {
  test.each([
    { name: 'Ready after a while', ends: [undefined, undefined, 'ready'], code: 0, asked: 3 },
    { name: 'Failed', ends: ['failed'], code: 1, asked: 1 },
    { name: 'deleted meanwhile', ends: [undefined, 'missing'], code: 1, asked: 2, says: 'expected an image' },
    { name: 'late', ends: [], env: { OT_TIMEOUT: '0' }, code: 124, asked: 1, says: 'not Ready within 0 s' },
    { name: 'not waited for', ends: [], env: { OT_WAIT: 'false' }, code: 0, asked: 0 },
    { name: 'refused', status: 403, ends: [], code: 1, asked: 0, says: 'why' },
    {
      name: 'a name with a quote',
      ends: [],
      env: { IMAGE_VERSION: 'a"b' },
      code: 2,
      asked: 0,
      says: 'expected no quote',
    },
  ])('$name: exit code $code', async ({ status = 202, ends, env = {}, code, asked, says = '' }) => {
    const there = await gateway(status, ...ends);
    const ended = await run(script, { ...image, ...given, ...there.variables, ...env });
    await there.close();
    expect({ code: ended.code, asked: there.asked.length }, ended.err).toEqual({ code, asked });
    expect(ended.out + ended.err).toContain(says);
    for (const line of there.asked) expect(line).toBe('Bearer a-token /?name=lab-1');
    for (const { headers, body } of there.posted) {
      expect(headers).toMatchObject({
        authorization: 'Bearer a-token',
        'ce-id': '1',
        'ce-type': 'ot.pelotech.image.published.v1',
      });
      expect(ImagePublished.parse(JSON.parse(body))).toEqual({
        name: image.IMAGE_NAME,
        version: image.IMAGE_VERSION,
        digest: image.IMAGE_DIGEST,
      });
    }
    expect(there.posted).toHaveLength(code === 2 ? 0 : 1);
  });
});
