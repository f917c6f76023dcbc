import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../support/tools/is-alive.ts';
import { kubectl } from './kubectl.ts';

type Program = 'kube-apiserver' | 'kube-controller-manager';
type Signal = 'SIGTERM' | 'SIGKILL';
const apiServer: Program = 'kube-apiserver';

/** How the API server is started beside how the cluster's own script does it. */
export interface ApiServerStart {
  /** More flags for kube-apiserver; those of its last start by default. */
  extraArguments?: readonly string[];
}

/** Restarts the cluster's kube-apiserver; resolves when it is ready. */
export async function restartApiServer(start: ApiServerStart = {}): Promise<void> {
  // It would wait a minute for open watches.
  await end('SIGTERM', 3_000);
  await startApiServer(start);
}

/** Kills the cluster's kube-apiserver (SIGKILL), as a node that dies would; resolves when its process is gone. */
export const killApiServer = (): Promise<void> => end('SIGKILL', 10_000);

/** Starts the kube-apiserver that was killed; resolves when /readyz answers. Throws where one runs, or none gets ready. */
export async function startApiServer({ extraArguments }: ApiServerStart = {}): Promise<void> {
  const pid = await pidOf(apiServer);
  if (await isAlive(apiServer, pid))
    throw new Error(`expected no kube-apiserver, found the process ${pid}: kill or restart it`);
  const started = await lastStart();
  const now = { ...started, extraArguments: extraArguments ?? started.extraArguments };
  await writeFile(inState('kube-apiserver.json'), JSON.stringify(now));
  await untilReady(await start(apiServer, [...now.command, ...now.extraArguments]));
}

/** Starts the kube-apiserver if it was killed and not started again; resolves when /readyz answers. */
export async function startApiServerIfGone(): Promise<void> {
  if (!(await isAlive(apiServer, await pidOf(apiServer)))) await startApiServer();
}

/** Starts a program of the control plane in the cluster's network. */
async function start(name: Program, command: readonly string[]): Promise<ChildProcess> {
  const log = await open(inState(`log/${name}.log`), 'a');
  try {
    const inside = [`--net=/run/netns/${fromEnvironment('OT_CLUSTER_NETNS')}`, '--'];
    // nsenter becomes the program, so that its process is the program's own, and outlives the tests.
    const child = spawn('nsenter', [...inside, ...command], { detached: true, stdio: ['ignore', log.fd, log.fd] });
    child.unref();
    await writeFile(inState(`pid/${name}`), `${child.pid}\n`);
    return child;
  } finally {
    await log.close();
  }
}

/**
 * Restarts the cluster's kube-controller-manager, so that its garbage collector forgets the back-offs of up
 * to 1,000 s that it came to while the API server was away.
 */
export async function restartControllerManager(): Promise<void> {
  const name = 'kube-controller-manager';
  const pid = await pidOf(name);
  const command = await commandOf(pid);
  await kill(name, 'SIGTERM', 3_000);
  await start(name, command);
}

const everyMs = 200;
// It takes seconds; how long when the machine is overloaded is not what anybody here asks.
const readyWithinMs = 240_000;

async function untilReady(started: ChildProcess): Promise<void> {
  const overMs = Date.now() + readyWithinMs;
  // The name of the process does not tell: it is nsenter's at first.
  const hasEnded = () => started.exitCode !== null || started.signalCode !== null;
  while ((await kubectl('get', '--raw=/readyz', '--request-timeout=5s')).code !== 0) {
    const is = hasEnded() ? 'ended at its start' : Date.now() > overMs ? `is not ready after ${readyWithinMs} ms` : '';
    if (is) throw new Error(`kube-apiserver ${is}: ${await lastWords()}`);
    await sleep(everyMs);
  }
}

/** The cluster's directory does not outlive a run of the tests, so its log is quoted. */
const lastWords = async () => (await readFile(inState('log/kube-apiserver.log'), 'utf8')).slice(-2000);

async function end(signal: Signal, withinMs: number): Promise<void> {
  if (!(await isAlive(apiServer, await pidOf(apiServer)))) return;
  // What `down` and the next start need to know of it is gone with the process.
  await writeFile(inState('kube-apiserver.json'), JSON.stringify(await lastStart()));
  await kill(apiServer, signal, withinMs);
}

/** Resolves when its process is gone. */
async function kill(name: Program, signal: Signal, withinMs: number): Promise<void> {
  const pid = await pidOf(name);
  if (!(await isAlive(name, pid))) return;
  process.kill(pid, signal);
  const overMs = Date.now() + withinMs;
  while (await isAlive(name, pid)) {
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
  return { command: await commandOf(await pidOf(apiServer)), extraArguments: [] };
}

const pidOf = async (name: Program) => Number(await readFile(inState(`pid/${name}`), 'utf8'));

const commandOf = async (pid: number) => (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter(Boolean);

const inState = (path: string) => join(fromEnvironment('OT_CLUSTER_STATE'), path);

function fromEnvironment(name: 'OT_CLUSTER_STATE' | 'OT_CLUSTER_NETNS'): string {
  const value = process.env[name];
  if (!value) throw new Error(`expected ${name} in the environment, found none: run this with "npm run test:cluster"`);
  return value;
}
