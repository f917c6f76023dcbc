import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';

type Environment = Readonly<Record<string, string | undefined>>;
type Readers = NonNullable<NodeSDKConfiguration['metricReaders']>;

/** True where the environment names a collector for this signal; without one nothing ever tries to connect. */
export function hasCollector(signal: 'TRACES' | 'METRICS', env: Environment = process.env): boolean {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT || env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  return Boolean(endpoint) && env[`OTEL_${signal}_EXPORTER`] !== 'none';
}

/**
 * What sends metrics to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, if any: functions that scale to zero are
 * mostly not there to be scraped. The SDK reads the same variables only where it is given no reader at all.
 */
export async function otlpReaders(env: Environment = process.env): Promise<Readers> {
  if (!hasCollector('METRICS', env)) return [];
  const [{ PeriodicExportingMetricReader }, exporter] = await Promise.all([
    import('@opentelemetry/sdk-metrics'),
    metricExporter(env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf'),
  ]);
  const exportIntervalMillis = Number(env.OTEL_METRIC_EXPORT_INTERVAL) || 60_000;
  const exportTimeoutMillis = Math.min(Number(env.OTEL_METRIC_EXPORT_TIMEOUT) || 30_000, exportIntervalMillis);
  return [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis })];
}

async function metricExporter(protocol: string) {
  switch (protocol) {
    case 'http/protobuf':
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter();
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter();
    default:
      throw new Error(
        `OTEL_EXPORTER_OTLP_PROTOCOL: expected http/protobuf, http/json or grpc, found ${protocol}; unset it for http/protobuf`,
      );
  }
}
