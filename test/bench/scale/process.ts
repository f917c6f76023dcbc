import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { request as askHttp, type IncomingMessage, type RequestListener } from 'node:http';
import { request as askHttps, createServer, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { nodeOptions } from '../../../deploy/image/node-options.ts';
import { timerAttributes } from '../../../shared/event-filter.ts';
import { imagePublished } from '../../../shared/events.ts';
import { diskImageFact } from '../../../shared/images/facts.ts';
import { signed } from '../../support/builders/publications.ts';
import { testCertificate } from '../../support/tools/certificate.ts';
import { firstAnswer, freePort } from '../../support/tools/first-answer.ts';
import type { Sent } from './crowd.ts';
import { limitMemory } from './memory-limit.ts';

/** What a function asked for and did; bytes are those of answers, watches left out. */
export interface Spent {
  requests: number;
  writes: number;
  bytes: number;
  cpuMs: number;
}

/** A function as its pods run it, before an API server whose answers are counted. */
export interface FunctionProcess {
  send(sent: Sent | 'audit'): Promise<void>;
  /** Reads its metrics, as Prometheus does. */
  scrape(): Promise<void>;
  spent(): Promise<Spent>;
  /** The most CPU time since the last call of this for which nothing else in the process could run. */
  longestBlockMs(): Promise<number>;
  /** Resident memory in bytes: now, and the most that it was. */
  memory(): Promise<{ now: number; peak: number }>;
  /** Whether the process has no more memory than was given: it would be killed. */
  isLimited: boolean;
  stop(): Promise<void>;
}

const blocks = new URL('blocks.ts', import.meta.url).href;

interface Given {
  main: string;
  folder: string;
  config: KubeConfig;
  /** The memory that its container may have. */
  memoryBytes: number;
}

/** Starts a function of a bundle (`main`) with a kubeconfig of its own in `folder`. It asks over TLS, as in a pod. */
export async function startFunction(
  name: string,
  { main, folder, config, memoryBytes }: Given,
): Promise<FunctionProcess> {
  const counted = { requests: 0, writes: 0, bytes: 0 };
  const certificate = testCertificate('127.0.0.1');
  const proxy = createServer(certificate, await countingProxy(config, counted)).listen(0, '127.0.0.1');
  // Longer than the timeout that the API server announces to its clients: otherwise a client would use a connection that is closed.
  proxy.keepAliveTimeout = 60_000;
  await new Promise((resolve) => proxy.once('listening', resolve));
  const kubeconfig = join(folder, `${name}.kubeconfig`);
  await writeFile(kubeconfig, kubeconfigOf((proxy.address() as AddressInfo).port, certificate.cert));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const limit = await limitMemory(`ot-scale-${process.pid}-${name}`, memoryBytes);
  const [command = '', ...args] = [
    ...(limit?.command ?? []),
    ...[process.execPath, ...nodeOptions, '--import', blocks, main, name],
  ];
  const child = spawn(command, args, {
    env: {
      ...process.env,
      KUBECONFIG: kubeconfig,
      HOST: '127.0.0.1',
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      TIMER_SPACING: 'Off',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  await firstAnswer(`${url}/health/ready`, child);
  const pid = child.pid ?? 0;
  let sent = 0;
  return {
    async send(what) {
      const { attributes, data } = contentOf(what);
      const all = { specversion: '1.0', id: `scale-${++sent}`, source: '/bench', ...attributes };
      const headers = Object.entries(all).map(([key, value]): [string, string] => [`ce-${key}`, value]);
      const answer = await fetch(url, {
        method: 'POST',
        headers: [...headers, ['content-type', 'application/json']],
        body: JSON.stringify(data),
      });
      if (!answer.ok) throw new Error(`expected ${name} to take an event, it answered ${answer.status}`);
    },
    async scrape() {
      const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
      if (!answer.ok) throw new Error(`expected ${name} to answer a scrape, it answered ${answer.status}`);
      await answer.text();
    },
    spent: async () => ({ ...counted, cpuMs: await cpuMsOf(pid) }),
    longestBlockMs: () => {
      child.send('tell');
      return new Promise((resolve) => child.once('message', (ms) => resolve(Number(ms))));
    },
    memory: async () => {
      const text = await readFile(`/proc/${pid}/status`, 'utf8');
      const bytesOf = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024;
      return { now: bytesOf('VmRSS'), peak: bytesOf('VmHWM') };
    },
    isLimited: limit !== undefined,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        await ended;
      }
      await limit?.remove();
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

function kubeconfigOf(port: number, ca: string): string {
  const config = new KubeConfig();
  const cluster = { name: 'counted', server: `https://127.0.0.1:${port}`, caData: Buffer.from(ca).toString('base64') };
  config.loadFromClusterAndUser({ ...cluster, skipTLSVerify: false }, { name: 'nobody' });
  return config.exportConfig();
}

/** An hour ago, so that many seconds are left. */
let publishedMs = Date.now() - 3_600_000;

function contentOf(sent: Sent | 'audit'): { attributes: Record<string, string>; data: object } {
  if (sent === 'audit') return { attributes: timerAttributes('audit'), data: {} };
  if ('published' in sent) {
    // A publication that is not newer than the last changes nothing, and one of the future is refused.
    publishedMs += 1000;
    const data = sent.published;
    return { attributes: { type: imagePublished, ...signed(data, { atMs: publishedMs }) }, data };
  }
  const { namespace, name } = sent.ref;
  if ('fact' in sent) {
    const data = { namespace, name };
    return { attributes: { type: diskImageFact(sent.fact), counted: 'false', named: 'true' }, data };
  }
  const {
    about: { apiVersion: apiversion, kind },
    verb = 'update',
  } = sent;
  const about = { apiversion, kind, name, ...(namespace ? { namespace } : {}) };
  return { attributes: { type: `dev.knative.apiserver.ref.${verb}`, ...about }, data: {} };
}

/** CPU time of all threads of a process, in milliseconds. */
async function cpuMsOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = threads.map(async (thread) => {
    const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
    return Number(text.split(' ', 1)[0]) / 1e6;
  });
  return (await Promise.all(times)).reduce((sum, ms) => sum + ms, 0);
}

/** Passes requests on to the API server, uncompressed, and counts them and what comes back. */
async function countingProxy(config: KubeConfig, counted: Omit<Spent, 'cpuMs'>): Promise<RequestListener> {
  const upstream = new URL(config.getCurrentCluster()?.server ?? '');
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const ask = upstream.protocol === 'https:' ? askHttps : askHttp;
  return (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const isWatch = url.includes('watch=true');
    if (!isWatch) counted.requests++;
    if (method !== 'GET') counted.writes++;
    const { host, 'accept-encoding': encoding, ...headers } = request.headers;
    const onward = ask(new URL(url, upstream), { ...options, method, headers: { ...options.headers, ...headers } });
    onward.once('response', (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!isWatch) answer.on('data', (part: Buffer) => (counted.bytes += part.length));
      answer.pipe(response);
    });
    onward.once('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  };
}
