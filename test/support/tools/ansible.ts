import { execFile } from 'node:child_process';
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sshServer } from './ssh-guest.ts';

const run = promisify(execFile);

/** The Ansible that what we generate for it is held to. */
const version = '2.19.14';
/** What runs it in a Job. */
const runnerVersion = '2.4.1';

/** Kept between runs; no part of the project. */
const folder = fileURLToPath(
  new URL(`../../../.local/ansible-${version}-${runnerVersion}-${sshServer}/`, import.meta.url),
);

/** Ansible in an environment of its own, or why it is missing. */
export type Ansible = { bin: string; lacking?: undefined } | { bin?: undefined; lacking: string };

/** Installs Ansible with this machine's Python from the index that its pip is set to, unless it is installed. */
export async function installAnsible(): Promise<Ansible> {
  const bin = join(folder, 'bin');
  const done = join(folder, 'installed');
  const isThere = await access(done).then(
    () => true,
    () => false,
  );
  if (isThere) return { bin };
  try {
    await rm(folder, { recursive: true, force: true });
    await run('python3', ['-m', 'venv', folder]);
    const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--timeout', '15', '--retries', '1'];
    const packages = [`ansible-core==${version}`, `ansible-runner==${runnerVersion}`, sshServer];
    await run(join(bin, 'python'), ['-m', 'pip', 'install', ...options, ...packages], { timeout: 240_000 });
    await writeFile(done, '');
    return { bin };
  } catch (error) {
    const { stderr = '', message = '' } = error as { stderr?: string; message?: string };
    const found = stderr.trim().split('\n').at(-1) || message.split('\n')[0];
    return { lacking: `Ansible ${version} could not be installed with python3 and pip: ${found}` };
  }
}
