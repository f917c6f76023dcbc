import { spawn } from 'node:child_process';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from './kubectl.ts';

/** How the API server is started beside how the cluster's own script does it. */
export interface ApiServerStart {
  /** More flags for kube-apiserver; those of its last start where nobody says. */
  extraArguments?: readonly string[];
}

/** Ends the cluster's kube-apiserver and starts it anew; resolves when it is ready. */
export async function restartApiServer(start: ApiServerStart = {}): Promise<void> {
  // Left alone it waits a minute for watches that nobody ends.
  await end('SIGTERM', 3_000);
  await startApiServer(start);
}

/** Kills the cluster's kube-apiserver (SIGKILL), as a node that dies would; resolves when its process is gone. */
export const killApiServer = (): Promise<void> => end('SIGKILL', 10_000);

/** Starts the kube-apiserver that was killed; resolves when /readyz answers. Throws where one runs, or none gets ready. */
export async function startApiServer({ extraArguments }: ApiServerStart = {}): Promise<void> {
  const pid = await pidOf();
  if (await isAlive(pid)) throw new Error(`expected no kube-apiserver, found the process ${pid}: kill or restart it`);
  const started = await lastStart();
  const now = { ...started, extraArguments: extraArguments ?? started.extraArguments };
  await writeFile(inState('kube-apiserver.json'), JSON.stringify(now));
  const log = await open(inState('log/kube-apiserver.log'), 'a');
  try {
    const inside = [`--net=/run/netns/${fromEnvironment('OT_CLUSTER_NETNS')}`, '--'];
    const command = [...inside, ...now.command, ...now.extraArguments];
    // nsenter becomes the program, so that its process is the API server's own, and outlives the tests.
    const child = spawn('nsenter', command, { detached: true, stdio: ['ignore', log.fd, log.fd] });
    child.unref();
    await writeFile(inState('pid/kube-apiserver'), `${child.pid}\n`);
    await untilReady(Number(child.pid));
  } finally {
    await log.close();
  }
}

const everyMs = 200;
const readyWithinMs = 60_000;

async function untilReady(pid: number): Promise<void> {
  const overMs = Date.now() + readyWithinMs;
  while ((await kubectl('get', '--raw=/readyz', '--request-timeout=5s')).code !== 0) {
    const log = inState('log/kube-apiserver.log');
    if (!(await isAlive(pid))) throw new Error(`kube-apiserver ended at its start, see ${log}`);
    if (Date.now() > overMs) throw new Error(`kube-apiserver is not ready after ${readyWithinMs} ms, see ${log}`);
    await sleep(everyMs);
  }
}

async function end(signal: 'SIGTERM' | 'SIGKILL', withinMs: number): Promise<void> {
  const pid = await pidOf();
  if (!(await isAlive(pid))) return;
  // What `down` and the next start need to know of it is gone with the process.
  await writeFile(inState('kube-apiserver.json'), JSON.stringify(await lastStart()));
  process.kill(pid, signal);
  const overMs = Date.now() + withinMs;
  while (await isAlive(pid)) {
    if (Date.now() > overMs) process.kill(pid, 'SIGKILL');
    await sleep(everyMs);
  }
}

interface Started {
  /** As the cluster's own script started it. */
  command: readonly string[];
  extraArguments: readonly string[];
}

/** How it was started last: as written down by us, else as the running process says. */
async function lastStart(): Promise<Started> {
  const written = await readFile(inState('kube-apiserver.json'), 'utf8').catch(() => undefined);
  if (written) return JSON.parse(written) as Started;
  return { command: await commandOf(await pidOf()), extraArguments: [] };
}

const pidOf = async () => Number(await readFile(inState('pid/kube-apiserver'), 'utf8'));

const commandOf = async (pid: number) => (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter(Boolean);

/** Whether any thread of that kube-apiserver is left, which would hold its port: a zombie alone holds nothing. */
async function isAlive(pid: number): Promise<boolean> {
  const [command] = await commandOf(pid).catch(() => []);
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  return command?.endsWith('/kube-apiserver') || threads.length > 1;
}

const inState = (path: string) => join(fromEnvironment('OT_CLUSTER_STATE'), path);

function fromEnvironment(name: 'OT_CLUSTER_STATE' | 'OT_CLUSTER_NETNS'): string {
  const value = process.env[name];
  if (!value) throw new Error(`expected ${name} in the environment, found none: run this with "npm run test:cluster"`);
  return value;
}
