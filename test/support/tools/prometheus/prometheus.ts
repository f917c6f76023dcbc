import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { ensureTool } from '../ensure-tool.ts';

const run = promisify(execFile);

/** The folder of prometheus and promtool, brought to this machine where they are not on it; or why they cannot be had. */
export const findPrometheus = () => ensureTool(new URL('install', import.meta.url), 120_000);

/** Runs promtool; rejects with all it said. */
export async function promtool(bin: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await run(join(bin, 'promtool'), args);
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`promtool ${args.join(' ')}:\n${stdout}${stderr}`);
  }
}

/** A folder that goes when it is disposed of. */
export async function aFolder() {
  const path = await mkdtemp(join(tmpdir(), 'ot-prometheus-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export interface PrometheusOptions {
  bin: string;
  /** A URL of metrics, scraped each second. */
  scrapes: string;
  /** What the operator would say of where it is from. */
  labels: Readonly<Record<string, string>>;
  groups: readonly object[];
}

/** One element of an instant vector. */
interface Sample {
  metric: Readonly<Record<string, string>>;
  value: number;
}

export interface Prometheus {
  /** What it says now, or would at another time (seconds since 1970). */
  query(expr: string, at?: { time: number }): Promise<Sample[]>;
  /** Every rule, with what went wrong at its last evaluation. */
  rules(): Promise<{ name: string; type: 'alerting' | 'recording'; lastError?: string; state?: string }[]>;
  close(): Promise<void>;
}

/** A real Prometheus on a free port of loopback, which scrapes and works rules out each second. */
export async function startPrometheus({ bin, scrapes, labels, groups }: PrometheusOptions): Promise<Prometheus> {
  const folder = await aFolder();
  const { host, pathname } = new URL(scrapes);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'ot', metrics_path: pathname, static_configs: [{ targets: [host], labels }] }],
  };
  await writeFile(join(folder.path, 'prometheus.yaml'), stringify(config));
  await writeFile(join(folder.path, 'rules.yaml'), stringify({ groups }));
  const child = spawn(
    join(bin, 'prometheus'),
    [
      `--config.file=${join(folder.path, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder.path, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const close = async () => {
    if (child.exitCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await folder.remove();
  };
  const { url, ready } = await listening(child.stderr);
  if (!url || !ready) {
    await close();
    throw new Error('prometheus ended before it listened');
  }
  const ask = async (path: string, params: Record<string, string> = {}) => {
    const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', body: new URLSearchParams(params) });
    const answer = (await response.json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${Object.values(params).join()}: ${answer.error}`);
    return answer.data;
  };
  return {
    query: async (query, at) =>
      samplesOf((await ask('query', { query, ...(at && { time: String(at.time) }) })) as Result),
    rules: async () => {
      const response = await fetch(`${url}/api/v1/rules`);
      const { data } = (await response.json()) as { data: { groups: { rules: [] }[] } };
      return data.groups.flatMap(({ rules }) => rules);
    },
    close,
  };
}

type Result =
  | { resultType: 'vector'; result: { metric: Sample['metric']; value: [number, string] }[] }
  | { resultType: 'scalar'; result: [number, string] };

const samplesOf = (found: Result): Sample[] =>
  found.resultType === 'scalar'
    ? [{ metric: {}, value: Number(found.result[1]) }]
    : found.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));

/** Reads what Prometheus says of itself until it answers; its log is read on, or it would stop at a full pipe. */
async function listening(log: NodeJS.ReadableStream): Promise<{ url?: string; ready?: boolean }> {
  const found = Promise.withResolvers<{ url?: string; ready?: boolean }>();
  let url: string | undefined;
  const lines = createInterface({ input: log });
  lines.on('line', (line) => {
    const [, address] = /msg="Listening on".*address=(\S+)/.exec(line) ?? [];
    if (address) url = `http://${address}`;
    if (line.includes('Server is ready') && url) found.resolve({ url, ready: true });
  });
  lines.once('close', () => found.resolve({}));
  return found.promise;
}
