import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, test } from 'vitest';
import { kubeClient } from '../../shared/runtime/kube.ts';
import { type Spawned, spawned } from '../../test/support/tools/spawned.ts';
import { applyManifests, documents } from '../manifests.ts';
import { anyPorts } from './up/ports.ts';

const running: Spawned[] = [];
/** The folders of the clusters that a test has brought up. */
const folders: string[] = [];
afterEach(async () => {
  for (const command of running.splice(0)) await command.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Brings up a cluster in a folder of its own. */
const up = async (...args: string[]) => {
  const folder = await mkdtemp(join(tmpdir(), 'npm-start-'));
  folders.push(folder);
  const command = await spawned('up.ts', '--state', folder, ...args);
  running.push(command);
  return command;
};

/** The manifest of an example, as the introduction says to apply it. */
async function example(name: string, storeUrl: string) {
  const file = new URL(`../../crds/examples/${name}.yaml`, import.meta.url);
  return documents((await readFile(file, 'utf8')).replace('http://127.0.0.1:19000', storeUrl));
}

/** What the page shows at first to a user without a token. */
async function firstShownAt(page: string): Promise<unknown> {
  const over = new AbortController();
  const { body } = await fetch(`${page}/changes`, { signal: over.signal });
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('\n\n')) break;
  }
  over.abort();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '');
}

const minuteMs = 60_000;

describe('npm start', { timeout: 2 * minuteMs }, () => {
  test('brings up a cluster for kubectl, on which the examples do what they say, and ends on SIGTERM', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'npm-start-'));
    const kubeconfig = join(folder, 'kubeconfig');
    const command = await up(...anyPorts, '--kubeconfig', kubeconfig);
    const [, storeUrl = ''] = await command.until(/"url":"(http:\/\/127\.0\.0\.1:\d+)\/images/);
    await command.until(/The store has/);
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    await rm(folder, { recursive: true });
    const kube = kubeClient(config);
    for (const name of ['virtual-machine-ubuntu', 'vm-disk-image', 'vm-disk-image-missing', 'workspace'])
      await applyManifests(kube, await example(name, storeUrl));
    await expect(applyManifests(kube, await example('vm-disk-image-illegal', storeUrl))).rejects.toThrow(
      /expected a path-style https URL, found s3:\/\//,
    );
    await command.until(/vmdi-farm\/missing {2}Failed {2}Expected an object at .*NoSuchKey/);
    await command.until(/vmdi-farm\/ubuntu {2}Succeeded {2}Ready to clone/);
    await command.until(/ws-demo-workspace-1\/demo-vm {2}Ready {2}The machine is stopped\./);
    await command.until(/default\/ubuntu-1 {2}Ready {2}The machine runs\./);
    const [, page = ''] = await command.until(/in a browser at (http:\/\/127\.0\.0\.1:\d+),/);
    expect(await firstShownAt(page)).toMatchObject({ viewer: 'kubernetes-admin', seesAnything: true });
    command.child.kill('SIGTERM');
    expect(await command.ended).toBe(0);
    expect(await command.leftOver()).toEqual([]);
  });
  test('says in one line that a port is in use, and ends with 1', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : '');
    try {
      const options = ['--port', '--broker-port', '--store-port', '--metrics-port', '--console-port'];
      const commands = await Promise.all(options.map((option) => up(...anyPorts, option, port)));
      for (const [index, command] of commands.entries()) {
        expect(await command.ended).toBe(1);
        expect(command.stderr()).toBe(
          `start: port ${port} of 127.0.0.1 is in use: stop what listens there, or choose another with ${options[index]}\n`,
        );
        expect(await command.leftOver()).toEqual([]);
      }
    } finally {
      other.close();
    }
  });
  test('says in one line that the kubeconfig cannot be written, and ends with 1', async () => {
    const command = await up(...anyPorts, '--kubeconfig', join(import.meta.filename, 'kubeconfig'));
    expect(await command.ended).toBe(1);
    expect(command.stderr()).toMatch(/^start: expected to write the kubeconfig to .*: choose .*--kubeconfig\n$/);
  });
  test('says with --help what it does, and refuses an option that there is not', async () => {
    const [help, wrong] = [await up('--help'), await up('--prot', '1')];
    expect([await help.ended, await wrong.ended]).toEqual([0, 2]);
    expect(help.stdout()).toMatch(/--kubeconfig FILE[\s\S]*Examples/);
    expect(wrong.stderr()).toMatch(/^start: Unknown option '--prot'; expected --port, .*\n$/);
  });
});
