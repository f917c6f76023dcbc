import { startTelemetry, type TelemetryOptions } from '../../../shared/runtime/telemetry/sdk.ts';

type SpanProcessor = NonNullable<TelemetryOptions['spanProcessors']>[number];
export type ReadableSpan = Parameters<SpanProcessor['onEnd']>[0];

/** Keeps all spans that end in this process from now on, until `shutdown`. */
export async function keptSpans() {
  const spans: ReadableSpan[] = [];
  const keep: SpanProcessor = {
    onStart: () => undefined,
    onEnd: (span) => void spans.push(span),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const { shutdown } = await startTelemetry({ serviceName: 'test', spanProcessors: [keep] });
  return { spans, shutdown };
}
