import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle } from '../../../deploy/image/bundle.ts';
import { nodeOptions } from '../../../deploy/image/node-options.ts';
import { kubeconfigFor } from '../../../deploy/local/api-server/kubeconfig.ts';
import type { Handler } from '../../../deploy/local/eventing/address.ts';
import { firstAnswer, freePort } from '../../support/tools/first-answer.ts';

/** Functions as processes of the bundle in the image, which can be killed and are restarted like pods. */
export interface FunctionProcesses {
  /** Posts an event to the function; waits while it starts, as Knative's activator does. */
  handler(name: string): Handler | undefined;
  /** Kills the process (SIGKILL) and starts another; resolves when the killed one has ended. */
  kill(name: string): Promise<void>;
  /** The last lines of all logs. */
  log(): Promise<string>;
  /** Ends them all. */
  close(): Promise<void>;
}

export interface ProcessesOptions {
  names: readonly string[];
  /** The address of the API server for a function, and the token of its ServiceAccount. */
  apiServerOf(name: string): { url: string; token: string };
  /** The Broker for domain events. */
  sink: string;
}

interface Running {
  child: ChildProcess;
  ended: Promise<unknown>;
  ready: Promise<void>;
}

/** Starts them; resolves when all answer. */
export async function startFunctionProcesses(options: ProcessesOptions): Promise<FunctionProcesses> {
  const { names, apiServerOf, sink } = options;
  const folder = await mkdtemp(join(tmpdir(), 'ot-functions-'));
  const main = join(folder, 'main.mjs');
  const logFile = join(folder, 'log');
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled'), HOST: '127.0.0.1', K_SINK: sink };
  const ports = new Map<string, { events: number; metrics: number }>();
  const running = new Map<string, Running>();
  let isClosed = false;

  const start = (name: string) => {
    const { events = 0, metrics = 0 } = ports.get(name) ?? {};
    const child = spawn(process.execPath, [...nodeOptions, main, name], {
      env: {
        ...env,
        KUBECONFIG: join(folder, name),
        PORT: String(events),
        METRICS_PORT: String(metrics),
        FIELD_VALIDATION: 'Strict',
        TIMER_SPACING: 'Off',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (bytes: Buffer) => void appendFile(logFile, bytes));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const ready = firstAnswer(`http://127.0.0.1:${events}/health/ready`, child);
    // A rejection reaches the awaiting caller; a process that is killed while it starts is awaited by no one.
    ready.catch(() => {});
    running.set(name, { child, ended, ready });
  };
  const end = async (name: string) => {
    const found = running.get(name);
    found?.child.kill('SIGKILL');
    await found?.ended;
  };
  const close = async () => {
    isClosed = true;
    await Promise.all(names.map(end));
    await rm(folder, { recursive: true });
  };

  try {
    await bundle(folder);
    await promisify(execFile)(process.execPath, [main, '--compile'], { env });
    for (const name of names) {
      const { url, token } = apiServerOf(name);
      await writeFile(join(folder, name), kubeconfigFor(url, token));
      ports.set(name, { events: await freePort(), metrics: await freePort() });
      start(name);
    }
    await Promise.all([...running.values()].map(({ ready }) => ready));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    handler: (name) =>
      ports.has(name)
        ? async (request) => {
            await running.get(name)?.ready;
            const { pathname, search } = new URL(request.url);
            const url = `http://127.0.0.1:${ports.get(name)?.events}${pathname}${search}`;
            return fetch(url, {
              method: request.method,
              headers: request.headers,
              body: await request.arrayBuffer(),
              signal: request.signal,
            });
          }
        : undefined,
    kill: async (name) => {
      await end(name);
      if (!isClosed) start(name);
    },
    log: () => readFile(logFile, 'utf8').catch(() => ''),
    close,
  };
}
