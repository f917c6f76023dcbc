import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseDocument } from 'yaml';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const digests = {
  base: `sha256:${'1b'.repeat(32)}`,
  image: `sha256:${'2c'.repeat(32)}`,
  chart: `sha256:${'3d'.repeat(32)}`,
};

let tools: string;
/** Stands in for a program of the release: it writes down how it was called, and answers. */
const tool = async (name: string, body = '') => {
  await writeFile(join(tools, name), `#!/bin/bash\necho "${name} $*" >> "${tools}/calls"\n${body}\n`);
  await chmod(join(tools, name), 0o755);
};
beforeAll(async () => {
  tools = await mkdtemp(join(tmpdir(), 'ot-publish-'));
  await tool('npm');
  await tool('cosign');
  await tool('helm', `echo "Pushed: charts/ot-functions:0.1.0"; echo "Digest: ${digests.chart}"`);
  await tool(
    'docker',
    `[ "$2" = imagetools ] && echo ${digests.base}
     while [ $# -gt 0 ]; do [ "$1" != --metadata-file ] || echo '{"containerimage.digest":"${digests.image}"}' > "$2"; shift; done`,
  );
});
afterAll(() => rm(tools, { recursive: true }));

test('what is published is signed by its digest, and the files name the image that was pushed', async () => {
  const env = { ...process.env, PATH: `${tools}:${process.env.PATH}`, TAG: 'v0.1.0', REGISTRY: 'registry.example/ot' };
  await run(join(root, 'deploy/release/publish'), { env });
  const calls = (await readFile(join(tools, 'calls'), 'utf8')).trim().split('\n');
  const image = `registry.example/ot/ot-functions`;
  expect(calls.map((call) => call.split(' ').slice(0, 3).join(' '))).toEqual([
    'npm run build',
    'docker buildx imagetools',
    'docker buildx build',
    'npm run release',
    'helm push release/ot-functions-0.1.0.tgz',
    'cosign sign --yes',
    'cosign attest --yes',
    'cosign sign --yes',
    'cosign sign-blob --yes',
  ]);
  expect(calls[2]).toContain('--platform linux/amd64,linux/arm64');
  expect(calls[2]).toContain(`--build-arg BASE=gcr.io/distroless/nodejs24-debian13@${digests.base}`);
  expect(calls[3]).toBe(`npm run release -- --tag v0.1.0 --image ${image}:0.1.0@${digests.image}`);
  expect(calls[5]).toBe(`cosign sign --yes ${image}@${digests.image}`);
  expect(calls[6]).toContain(`${image}@${digests.image}`);
  expect(calls[7]).toBe(`cosign sign --yes registry.example/ot/charts/ot-functions@${digests.chart}`);
});

test.each(['TAG', 'REGISTRY'])('without %s nothing is built', async (missing) => {
  const env = { ...process.env, PATH: `${tools}:${process.env.PATH}`, TAG: 'v0.1.0', REGISTRY: 'r', [missing]: '' };
  await expect(run(join(root, 'deploy/release/publish'), { env })).rejects.toThrow(missing);
});

interface Job {
  permissions?: Record<string, string>;
  id_tokens?: object;
  env?: object;
  variables?: object;
  steps?: { run?: string; uses?: string }[];
  script?: string[];
}

test.each([
  { file: '.github/workflows/release.yml', jobOf: (all: Record<string, Record<string, Job>>) => all.jobs?.release },
  { file: '.gitlab-ci.yml', jobOf: (all: Record<string, unknown>) => all.release as Job },
])('$file runs it for a tag, may sign, and its scripts are shell', async ({ file, jobOf }) => {
  const document = parseDocument(await readFile(join(root, file), 'utf8'));
  expect([...document.errors, ...document.warnings]).toEqual([]);
  const job = jobOf(document.toJS()) ?? {};
  expect(Object.keys({ ...job.env, ...job.variables })).toEqual(expect.arrayContaining(['TAG', 'REGISTRY']));
  expect(job.permissions?.['id-token'] === 'write' || 'SIGSTORE_ID_TOKEN' in (job.id_tokens ?? {})).toBe(true);
  const scripts = job.script ?? job.steps?.flatMap((step) => step.run ?? []) ?? [];
  expect(scripts).toContain('deploy/release/publish');
  for (const script of scripts) await run('bash', ['-n', '-c', script]);
  for (const { uses } of job.steps ?? []) if (uses) expect(uses).toMatch(/^[\w.-]+\/[\w.-]+@v\d+$/);
});
