import { readFile, writeFile } from 'node:fs/promises';
import { type Metric, metrics } from './telemetry/metrics.ts';
import { prometheusName } from './telemetry/metrics-prometheus.ts';

const page = new URL('../../deploy/monitoring/README.md', import.meta.url);
const begin = '<!-- metrics -->';
const end = '<!-- /metrics -->';

/** The table of all metrics as Markdown, one a line. */
export function metricsTable(table: readonly Metric[] = metrics): string {
  return [
    '| metric (OpenTelemetry) | in Prometheus | unit | kind | labels | what it tells |',
    '| --- | --- | --- | --- | --- | --- |',
    ...table.map((metric) => `| ${cells(metric).join(' | ')} |`),
  ].join('\n');
}

/** The page with the table between its two markers; undefined where it has no markers. */
export function withMetricsTable(text: string): string | undefined {
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) return undefined;
  return `${text.slice(0, from + begin.length)}\n${metricsTable()}\n${text.slice(to)}`;
}

/** What is wrong with the table in deploy/monitoring/README.md; undefined where it is right or the page is not there. */
export async function metricsTableDrift(file: URL = page): Promise<string | undefined> {
  const text = await readPage(file);
  if (text === undefined) return undefined;
  const wanted = withMetricsTable(text);
  if (wanted === undefined) return `expected the markers ${begin} and ${end} in ${file.pathname}, found none`;
  return wanted === text
    ? undefined
    : 'the metrics table of deploy/monitoring/README.md is not that of shared/runtime/telemetry/metrics.ts. Run "npm run generate".';
}

const cells = (metric: Metric) => [
  `\`${metric.name}\``,
  `\`${prometheusName(metric)}\``,
  `\`${metric.unit}\``,
  kindWords[metric.kind],
  metric.labels.map((label) => `\`${label}\``).join(', '),
  metric.description,
];

const kindWords: Readonly<Record<Metric['kind'], string>> = {
  counter: 'counter',
  histogram: 'histogram',
  observableGauge: 'gauge, at scrape',
  observableCounter: 'counter, at scrape',
};

async function readPage(file: URL): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeTable(): Promise<string> {
  const text = await readPage(page);
  if (text === undefined) return `no deploy/monitoring/README.md to write to; the table:\n${metricsTable()}`;
  const wanted = withMetricsTable(text);
  if (wanted === undefined)
    throw new Error(`deploy/monitoring/README.md: expected the markers ${begin} and ${end}, found none; add them`);
  if (wanted === text) return 'deploy/monitoring/README.md: nothing to change';
  await writeFile(page, wanted);
  return 'wrote deploy/monitoring/README.md: the metrics table';
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const drift = await metricsTableDrift();
    if (drift !== undefined) {
      console.error(drift);
      process.exitCode = 1;
    }
  } else console.log(await writeTable());
}
