import { createHash } from 'node:crypto';
import {
  metrics as api,
  type Counter,
  context,
  type Histogram,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { TraceOf } from '../rules/actions.ts';
import { metrics } from './metrics.ts';

/** What a function reports of itself; without an SDK started in the process all of it costs next to nothing. */
export interface Telemetry {
  measure(metric: string, value: number, attributes?: Readonly<Record<string, string>>): void;
  /** Runs inside a span; of the trace of that image revision where one is given. */
  span<T>(name: string, of: TraceOf | undefined, attributes: Record<string, string>, run: () => Promise<T>): Promise<T>;
}

/** The telemetry of one function; throws where a metric is measured that is not in the table. */
export function telemetryOf(functionName: string): Telemetry {
  const meter = api.getMeter('ot-functions');
  const tracer = trace.getTracer('ot-functions');
  const instruments = new Map<string, (value: number, attributes: Record<string, string>) => void>();
  for (const { name, kind, unit, description, buckets } of metrics) {
    if (kind === 'gauge') continue;
    const advice = buckets ? { advice: { explicitBucketBoundaries: [...buckets] } } : {};
    const instrument: Counter | Histogram =
      kind === 'counter'
        ? meter.createCounter(name, { unit, description })
        : meter.createHistogram(name, { unit, description, ...advice });
    instruments.set(name, (value, attributes) =>
      'add' in instrument ? instrument.add(value, attributes) : instrument.record(value, attributes),
    );
  }
  return {
    measure(metric, value, attributes = {}) {
      const instrument = instruments.get(metric);
      if (!instrument) throw new Error(`expected a metric of shared/runtime/metrics.ts, found ${metric}`);
      instrument(value, attributes);
    },
    span(name, of, attributes, run) {
      const parent = of ? trace.setSpanContext(ROOT_CONTEXT, spanContextOf(of)) : context.active();
      const links =
        of && trace.getActiveSpan()
          ? [{ context: (trace.getActiveSpan() as { spanContext(): SpanContext }).spanContext() }]
          : [];
      const options = { attributes: { ...attributes, 'ot.function': functionName }, links };
      return tracer.startActiveSpan(name, options, parent, async (span) => {
        try {
          return await run();
        } catch (error) {
          span.setStatus({
            code: SpanStatusCode.ERROR,
            message: error instanceof Error ? error.message : String(error),
          });
          throw error;
        } finally {
          span.end();
        }
      });
    },
  };
}

/** The trace of an image's revision: no source carries `traceparent`, so every function derives the same ids. */
export function spanContextOf({ uid, revision }: TraceOf): SpanContext {
  const digest = createHash('sha256').update(`${uid}/${revision}`).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}
