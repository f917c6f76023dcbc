import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { holdsAnything, isAlive } from './is-alive.ts';

test.each([
  ['one that runs', 'kube-apiserver', '42 (kube-apiserver) S 1 42', 9, true],
  ['one whose name is cut', 'kube-controller-manager', '42 (kube-controller) S 1 42', 9, true],
  [
    'one that ends, and has its memory given back but not its port',
    'kube-apiserver',
    '42 (kube-apiserver) D 1 42',
    1,
    true,
  ],
  ['one whose other threads have not ended', 'kube-apiserver', '42 (kube-apiserver) Z 1 42', 2, true],
  ['a zombie', 'kube-apiserver', '42 (kube-apiserver) Z 1 42', 1, false],
  ['one of another program, which has the number now', 'kube-apiserver', '42 (sh) S 1 42', 1, false],
  ['none', 'kube-apiserver', '', 0, false],
])('%s', (_, name, stat, threads, alive) => {
  expect(holdsAnything(name, stat, threads)).toBe(alive);
});

test.runIf(process.platform === 'linux')(
  'of this machine: a process is alive, a zombie or an ended process is not',
  async () => {
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    // The parent waits for no child of its own.
    await expect.poll(() => isAlive('sleep', Number(line))).toBe(false);
    const pid = Number(parent.pid);
    await expect.poll(() => isAlive('sleep', pid)).toBe(true);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    expect(await isAlive('sleep', pid)).toBe(false);
  },
);
