import { type Metric, metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { prometheusName } from '../../shared/runtime/telemetry/metrics-prometheus.ts';
import { markdownTable } from '../generate/markdown-table.ts';

/** The table of all metrics as Markdown, one a line. */
export const metricsTable = () =>
  markdownTable(
    ['metric (OpenTelemetry)', 'in Prometheus', 'unit', 'kind', 'labels', 'what it tells'],
    metrics.map(cells),
  );

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
