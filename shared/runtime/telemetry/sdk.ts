import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { metrics as api, context, createNoopMeter, diag, logs, propagation, trace } from '@opentelemetry/api';
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { Hono } from 'hono';
import { forPrometheus } from './metrics-prometheus.ts';
import { hasCollector, otlpReaders } from './otlp.ts';
import { resourceAttributes } from './resource.ts';
import { scope } from './telemetry.ts';

export interface TelemetryOptions {
  serviceName: string;
  /** Port of `/metrics`; 0 takes a free one, `off`, the default, serves none. */
  metricsPort?: number | 'off';
  /** Where that port is open; loopback by default, `0.0.0.0` in a pod. */
  metricsHost?: string;
  /** Other ends of the metrics, beside Prometheus' text and the collector of the environment. */
  metricReaders?: NonNullable<NodeSDKConfiguration['metricReaders']>;
  /** Where spans go instead of to the collector of the environment. */
  spanProcessors?: NonNullable<NodeSDKConfiguration['spanProcessors']>;
}

/** The OpenTelemetry SDK of this process. */
export interface RunningTelemetry {
  /** Where Prometheus scrapes; undefined where no port was asked for. */
  metricsUrl: string | undefined;
  /** All metrics as Prometheus' text; rejects where the SDK is switched off by OTEL_SDK_DISABLED. */
  metrics(): Promise<string>;
  /** Sends what is left, then shuts everything down; nothing stays registered. */
  shutdown(): Promise<void>;
}

/** A collector that is away holds up no function that has to go. */
const shutdownMs = 3000;

/**
 * Starts the SDK for the whole process: metrics as Prometheus' text, and by OTLP together with traces where
 * OTEL_EXPORTER_OTLP_ENDPOINT names a collector. Throws where one is running already, or the port is taken.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<RunningTelemetry> {
  // Heavy, and of no use to a process that reports nothing.
  const [{ startNodeSdk }, { PrometheusExporter, PrometheusSerializer }] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/exporter-prometheus'),
  ]);
  const attributes = resourceAttributes(options.serviceName);
  const otherReaders = [...(await otlpReaders()), ...(options.metricReaders ?? [])];
  const spanProcessors = options.spanProcessors ?? (hasCollector('TRACES') ? undefined : []);
  refuseSecond();
  // Its own server cannot take a free port.
  const prometheus = new PrometheusExporter({ preventServerStart: true });
  const sdk = startNodeSdk({
    logLevel: process.env.OTEL_LOG_LEVEL ?? 'warn',
    resourceAttributes: attributes,
    // They would tell the command line and the user's name.
    resourceDetectors: [],
    metricReaders: [prometheus, ...otherReaders],
    ...(spanProcessors ? { spanProcessors } : {}),
    logRecordProcessors: [],
  });
  const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
  const metrics = async () => {
    const { resourceMetrics, errors } = await prometheus.collect();
    for (const error of errors) complain('a metric could not be read', error);
    return serializer.serialize(forPrometheus(resourceMetrics));
  };
  const unregister = async () => {
    await Promise.race([
      sdk.shutdown().catch((error) => complain('the last telemetry was not sent', error)),
      sleep(shutdownMs, undefined, { ref: false }),
    ]);
    for (const registered of [api, trace, context, propagation, logs, diag]) registered.disable();
  };
  try {
    const server = await serveMetrics(metrics, options);
    return {
      metricsUrl: server?.url,
      metrics,
      shutdown: async () => {
        await server?.close();
        await unregister();
      },
    };
  } catch (error) {
    await unregister();
    throw error;
  }
}

const complain = (what: string, error: unknown) =>
  console.error(JSON.stringify({ level: 'warn', message: `${what}: ${String(error)}` }));

/** The API keeps the first of two and only logs that: half of the second would report nowhere. */
function refuseSecond() {
  if (api.getMeter(scope) !== createNoopMeter()) {
    throw new Error('expected no telemetry in this process yet, found one running; shut it down first');
  }
}

async function serveMetrics(
  metrics: () => Promise<string>,
  { metricsPort = 'off', metricsHost = '127.0.0.1' }: TelemetryOptions,
) {
  if (metricsPort === 'off') return undefined;
  const app = new Hono();
  app.get('/metrics', async (c) => {
    c.header('content-type', 'text/plain; version=0.0.4; charset=utf-8');
    return c.body(await metrics());
  });
  app.onError((error, c) => c.text(`metrics cannot be collected: ${error.message}\n`, 503));
  const listening = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, port: metricsPort, hostname: metricsHost }, ({ port }) =>
    listening.resolve(port),
  );
  server.once('error', listening.reject);
  const port = await listening.promise;
  return {
    url: `http://${metricsHost}:${port}/metrics`,
    close: async () => {
      const closed = new Promise((done) => server.close(done));
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}
