import type { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { Metric } from './metrics.ts';

/** Prometheus' words for units of UCUM; an annotation such as `{image}` has none (OpenTelemetry, Prometheus compatibility). */
const units: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes' };

/** A metric's name as Prometheus has it: dots become underscores, the unit follows, `_total` ends a counter's. */
export function prometheusName({ name, kind, unit }: Pick<Metric, 'name' | 'kind' | 'unit'>): string {
  const isCounter = kind === 'counter' || kind === 'observableCounter';
  return [name.replaceAll('.', '_'), units[unit] ?? '', isCounter ? 'total' : ''].filter(Boolean).join('_');
}

type ResourceMetrics = Parameters<PrometheusSerializer['serialize']>[0];
type MetricData = ResourceMetrics['scopeMetrics'][number]['metrics'][number];

/**
 * What was collected, made ready for the exporter's serializer, which leaves units out of names. Points that are not a
 * number go: the SDK repeats the last value of a gauge that is no longer observed, so NaN means "not known".
 */
export function forPrometheus(collected: ResourceMetrics): ResourceMetrics {
  return {
    ...collected,
    scopeMetrics: collected.scopeMetrics.map((scope) => ({
      ...scope,
      metrics: scope.metrics.map(withUnitInName).filter(({ dataPoints }) => dataPoints.length > 0),
    })),
  };
}

function withUnitInName(metric: MetricData): MetricData {
  const { name, unit } = metric.descriptor;
  const word = units[unit] ?? '';
  const descriptor = { ...metric.descriptor, unit: word, name: word ? `${name}.${word}` : name };
  const dataPoints = (metric.dataPoints as { value: unknown }[]).filter(({ value }) => !Number.isNaN(value));
  return { ...metric, descriptor, dataPoints } as MetricData;
}
