import { type Metric, metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { prometheusName } from '../../shared/runtime/telemetry/metrics-prometheus.ts';

/** The table of all metrics as Markdown, one a line. */
export function metricsTable(table: readonly Metric[] = metrics): string {
  return [
    '| metric (OpenTelemetry) | in Prometheus | unit | kind | labels | what it tells |',
    '| --- | --- | --- | --- | --- | --- |',
    ...table.map((metric) => `| ${cells(metric).join(' | ')} |`),
  ].join('\n');
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
