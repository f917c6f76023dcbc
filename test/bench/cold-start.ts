import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bundle } from '../../deploy/image/bundle.ts';
import { nodeOptions } from '../../deploy/image/node-options.ts';
import { startLocal } from '../../deploy/local/start.ts';
import { loadFunctions } from '../../knative/functions.ts';
import { timerAttributes } from '../../shared/event-filter.ts';
import { firstAnswer, freePort } from '../support/tools/first-answer.ts';

/** What starting a process costs: from its start to its first answer, and what memory it holds when it has nothing to do. */
export interface StartCost {
  /** A function's name, or `bare Node`. */
  what: string;
  firstAnswerMs: number[];
  /** All pages in memory, those of Node's own program included, which pods of one node share. */
  residentBytes: number;
  /** Pages of its own only; undefined where the system does not tell. */
  ownBytes: number | undefined;
}

export const bareNode = 'bare Node';

/** The quantile of this share; NaN for an empty list. */
const atShare = (share: number) => (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** The middle one. */
export const medianOf = atShare(1 / 2);
/** A quarter of them were quicker: neither the one lucky start nor those that met what else the machine does. */
export const lowerQuartileOf = atShare(1 / 4);

const bareServer = `require('node:http').createServer((_, response) => response.end())
  .listen(Number(process.env.PORT), '127.0.0.1')`;

/**
 * Starts the bundle that the image holds, with telemetry on and compiled code at hand as in the image, alternately with a
 * bare Node server, each `rounds` times.
 */
export async function measureStarts(rounds: number): Promise<StartCost[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ot-cold-start-'));
  const cluster = await startLocal({ simulators: false });
  try {
    await bundle(folder);
    await writeFile(join(folder, 'kubeconfig'), cluster.server.kubeconfig());
    const env = {
      ...process.env,
      KUBECONFIG: join(folder, 'kubeconfig'),
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      HOST: '127.0.0.1',
    };
    const main = join(folder, 'main.mjs');
    await promisify(execFile)(process.execPath, [main, '--compile'], { env });
    const functions = await loadFunctions();
    const subjects = [
      { what: bareNode, args: ['-e', bareServer], sweeps: 0 },
      ...functions.map(({ name, on }) => ({
        what: name,
        args: [...nodeOptions, main, name],
        // Whatever dead-letters is sent is a dead letter, and a warning.
        sweeps: on.some((subscription) => subscription.on === 'deadLetter') ? 0 : sweepsBeforeRest,
      })),
    ];
    const costs = subjects.map(({ what }): StartCost => ({ what, firstAnswerMs: [], residentBytes: 0, ownBytes: 0 }));
    for (let round = 0; round < rounds; round++) {
      for (const [index, { args, sweeps }] of subjects.entries()) {
        // What it holds does not hang on what else the machine does: once is enough.
        const isLast = round === rounds - 1;
        const { firstAnswerMs, ...memory } = await startOnce(args, env, isLast ? sweeps : undefined);
        const cost = costs[index];
        if (cost) Object.assign(cost, memory).firstAnswerMs.push(firstAnswerMs);
      }
    }
    return costs;
  } finally {
    await cluster.close();
    await rm(folder, { recursive: true });
  }
}

/** Rest comes after work: the sweeps of half an hour at the timers' default. */
const sweepsBeforeRest = 60;
const restMs = 500;

/** With `sweeps` it runs on after its first answer, and its memory is read after this many. */
async function startOnce(args: readonly string[], env: NodeJS.ProcessEnv, sweeps: number | undefined) {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...env, PORT: String(port), METRICS_PORT: String(metricsPort) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    await firstAnswer(`${url}/health/ready`, child);
    const firstAnswerMs = performance.now() - startedMs;
    if (sweeps === undefined) return { firstAnswerMs };
    for (let sent = 0; sent < sweeps; sent++) await fetch(url, { method: 'POST', headers: sweepHeaders(sent) });
    await sleep(restMs);
    return { firstAnswerMs, ...(await memoryOf(child.pid ?? 0)) };
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}

const sweepHeaders = (count: number) =>
  Object.fromEntries(
    Object.entries({ specversion: '1.0', id: String(count), ...timerAttributes('sweep') }).map(([name, value]) => [
      `ce-${name}`,
      value,
    ]),
  );

async function memoryOf(pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const bytesOf = (field: string) => {
    const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
    return found === undefined ? undefined : Number(found) * 1024;
  };
  return { residentBytes: bytesOf('VmRSS') ?? Number.NaN, ownBytes: bytesOf('RssAnon') };
}
