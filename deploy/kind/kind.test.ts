import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readManifests } from '../manifests.ts';
import { applyRelease } from './releases.ts';
import { CommandError, type Run } from './run.ts';
import { cluster, steps } from './steps.ts';
import { lackingTools } from './tools.ts';
import { nodeImage, releases } from './versions.ts';

const config = fileURLToPath(new URL('cluster.yaml', import.meta.url));

/** A machine on which every program answers with these words, and keeps what was asked of it. */
function aMachine(answers: Record<string, string | Error> = {}) {
  const asked: string[] = [];
  const run: Run = async (command, args) => {
    const line = [command, ...args].join(' ');
    asked.push(line);
    const answer = Object.entries(answers).find(([begin]) => line.startsWith(begin))?.[1] ?? '';
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { run, asked };
}

describe('the tools', () => {
  test('that are installed are no reason to stop', async () => {
    expect(await lackingTools(aMachine({ 'kind version': 'kind v0.33.0 go1.26 linux/amd64' }).run)).toEqual([]);
  });

  test('that are missing are named with what to do', async () => {
    const missing = new CommandError('docker: spawn docker ENOENT');
    const [line, ...others] = await lackingTools(aMachine({ 'docker info': missing, kind: 'kind v0.30.0' }).run);
    expect(others).toEqual([]);
    expect(line).toMatch(/expected docker .* found: .*ENOENT; install Docker and start it/);
  });

  test.each(['kind v0.29.9 go1.24', 'kind (unknown)'])('refuse %s', async (version) => {
    expect(await lackingTools(aMachine({ 'kind version': version }).run)).toEqual([
      expect.stringContaining('expected kind 0.30.0 or later'),
    ]);
  });
});

describe('the steps', () => {
  const take = async (machine: { run: Run }) => {
    for (const { act } of steps('/tmp/none')) await act(machine.run);
  };

  test('make the cluster with the pinned node before anything is applied', async () => {
    const machine = aMachine();
    await take(machine);
    const created = machine.asked.findIndex((line) => line.startsWith('kind create cluster'));
    expect(machine.asked[created]).toContain(nodeImage);
    expect(machine.asked.findIndex((line) => line.includes(' apply '))).toBeGreaterThan(created);
  });

  test('make neither cluster nor driver a second time', async () => {
    const machine = aMachine({
      'kind get clusters': `other\n${cluster.name}\n`,
      [`kubectl --context ${cluster.context} get csidriver`]: 'csidriver.storage.k8s.io/hostpath.csi.k8s.io',
    });
    await take(machine);
    expect(machine.asked.filter((line) => /^kind create|^git clone/.test(line))).toEqual([]);
  });

  test('create the policy if it does not exist, and keep an edited one', async () => {
    const applied = async (answers: Record<string, string>) => {
      const machine = aMachine(answers);
      await take(machine);
      return machine.asked.filter((line) => line.includes('policy.yaml')).length;
    };
    const asked = `kubectl --context ${cluster.context} -n sync-operator get configmap sync-operator-policy`;
    expect(await applied({})).toBe(1);
    expect(await applied({ [asked]: 'configmap/sync-operator-policy' })).toBe(0);
    const objects = await readManifests('deploy/kind');
    const [policy] = objects.filter(({ kind }) => kind === 'ConfigMap');
    expect(policy?.metadata.name).toBe('sync-operator-policy');
    expect(await readFile(config.replace('cluster.yaml', 'storage.yaml'), 'utf8')).not.toContain('ConfigMap');
  });

  test('name their context in every call that changes something', async () => {
    const machine = aMachine();
    await take(machine);
    const calls = machine.asked.filter((line) => line.startsWith('kubectl') && !line.includes('use-context'));
    expect(calls.length).toBeGreaterThan(10);
    for (const call of calls) expect(call).toContain(`--context ${cluster.context}`);
  });

  test('come to the functions only when CDI and KubeVirt serve their kinds, for without them machines are left out', async () => {
    const machine = aMachine();
    await take(machine);
    const last = machine.asked.length - 1;
    for (const operator of ['cdi/cdi', '-n kubevirt wait kubevirt/kubevirt']) {
      const awaited = machine.asked.findLastIndex((line) => line.includes(operator) && line.includes('=Available'));
      expect(awaited).toBeGreaterThan(machine.asked.findIndex((line) => line.includes('kubevirt-cr.yaml')));
      expect(awaited).toBeLessThan(last);
    }
  });

  test('end with the functions', async () => {
    const machine = aMachine();
    await take(machine);
    expect(machine.asked.at(-1)).toContain('deploy/cli/main.ts install');
  });
});

describe('the versions', () => {
  test('are in every URL', () => {
    for (const { version, urls } of releases) for (const url of urls) expect(url).toContain(`/${version}/`);
  });

  test('pin the node by its digest', () => {
    expect(nodeImage).toMatch(/:v\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
  });

  test('with a checksum refuse what is something else', async () => {
    const [url] = ['https://example.com/v1/a.yaml'];
    const release = { name: 'a', version: 'v1', urls: [url], namespaces: [], sha256: { [url]: 'f00' } };
    await expect(applyRelease(aMachine({ curl: 'kind: Other' }).run, 'c', release)).rejects.toThrow(
      /expected SHA-256 f00, found [0-9a-f]{64}/,
    );
  });
});

const execute = promisify(execFile);
const hasKind = await execute('kind', ['version']).then(
  () => true,
  () => false,
);
if (!hasKind) console.log("skipped: kind's own loader reads cluster.yaml only where there is kind");

describe.skipIf(!hasKind)("kind's own loader", () => {
  // With no Docker to reach it can go no further than reading the file, which it does first and strictly.
  const create = (file: string) =>
    execute('kind', ['create', 'cluster', '--config', file], {
      env: { ...process.env, KIND_EXPERIMENTAL_PROVIDER: 'docker', DOCKER_HOST: 'unix:///nowhere/docker.sock' },
    });

  test('takes cluster.yaml', async () => {
    await expect(create(config)).rejects.toThrow(/docker/);
    await expect(create(config)).rejects.not.toThrow(/unable to decode config/);
  });

  test('refuses a field that it does not know', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kind-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const text = await readFile(config, 'utf8');
    await writeFile(join(folder, 'cluster.yaml'), text.replace('nodes:', 'nodez:'));
    await expect(create(join(folder, 'cluster.yaml'))).rejects.toThrow(/unable to decode config/);
  });
});
