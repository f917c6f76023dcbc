import { hash } from 'node:crypto';
import {
  metrics as api,
  type Context,
  context,
  createContextKey,
  isSpanContextValid,
  type Link,
  type MeterProvider,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { TraceOf, TraceOfImage } from '../../traces.ts';
import { ApiError } from '../errors.ts';
import { type Metric, metrics } from './metrics.ts';

/** The name of meters and tracers. */
export const scope = 'ot-functions';

type Attributes = Readonly<Record<string, string>>;

/** What a function reports of itself. Without an SDK in the process it costs next to nothing. */
export interface Telemetry {
  /** Writes a point of a metric; throws if the table lacks the metric or has other labels for it. */
  measure(metric: string, value: number, attributes?: Attributes): void;
  /** A span for a measured duration, in the trace of the object it was measured for: named after the metric, beginning at `since`. */
  lasted(metric: string, since: string, seconds: number, of: TraceOf, attributes?: Attributes): void;
  /** Links the current span with the trace of an object that it created. */
  made(of: TraceOf): void;
  /**
   * Runs inside a span: of the given trace, linked with the current reconcile; without one, of the reconcile's own trace. With `origins`,
   * the W3C traceparents of events, the span is a new reconcile, linked with those.
   */
  span<T>(
    name: string,
    of: TraceOf | undefined,
    attributes: Readonly<Record<string, string | number>>,
    run: () => Promise<T>,
    origins?: readonly string[],
  ): Promise<T>;
}

/** The telemetry of one function, by the SDK that is registered at the moment of use. */
export function telemetryOf(functionName: string): Telemetry {
  const writeTo = currentInstruments();
  return {
    measure: (metric, value, attributes = {}) => writeTo(metric)(value, attributes),
    lasted(metric, since, seconds, of, attributes = {}) {
      const startTime = Date.parse(since);
      const options = { links: linksBeyond(of), startTime, attributes: { ...attributes, 'ot.function': functionName } };
      trace
        .getTracer(scope)
        .startSpan(metric, options, within(of))
        .end(startTime + seconds * 1000);
    },
    made: (of) => void trace.getActiveSpan()?.addLink({ context: spanContextOf(of) }),
    span(name, of, attributes, run, origins) {
      const [options, parent] = origins ? newReconcile(origins) : of ? inTraceOf(of) : inReconcile();
      const all = { ...options, attributes: { ...attributes, 'ot.function': functionName } };
      return trace.getTracer(scope).startActiveSpan(name, all, parent, async (span) => {
        try {
          return await run();
        } catch (error) {
          span.setAttribute('error.type', errorType(error)).setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },
  };
}

/** The trace of an image's revision or of any other object: no source carries `traceparent`, so every function derives the same ids. */
export function spanContextOf(of: TraceOf): SpanContext {
  const digest = hash('sha256', keyOf(of));
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

function keyOf(of: TraceOf): string {
  const life = lifeIn(of);
  if (life) return `${life.what}/${life.uid}`;
  const { uid, revision } = of as TraceOfImage;
  return `${uid}/${revision}`;
}

/** The object that a trace is about, and its phase; undefined for an image, of which each revision has a trace. */
export function lifeIn(of: TraceOf): { what: string; uid: string; phase?: string } | undefined {
  if ('workspace' in of) return { what: 'workspace', ...of.workspace };
  if ('machine' in of) return { what: 'machine', ...of.machine };
  if ('network' in of) return { what: 'network', ...of.network };
  return 'volume' in of ? { what: 'volume', ...of.volume } : undefined;
}

/** The image that a trace is about, or the image of the machine that it is about. */
export function imageOf(of: TraceOf | undefined): TraceOfImage | undefined {
  if (!of) return undefined;
  if ('machine' in of) return of.image;
  return lifeIn(of) ? undefined : (of as TraceOfImage);
}

/** The linked traces: of a machine that of its image, of a workspace those of its images and machines. */
function tracesBeyond(of: TraceOf): TraceOf[] {
  if ('workspace' in of) return [...of.images, ...of.machines.map((machine) => ({ machine }))];
  return 'machine' in of && of.image ? [of.image] : [];
}

/** The same as a W3C traceparent, for domain events. */
export function traceparentOf(of: TraceOf): string {
  const { traceId, spanId } = spanContextOf(of);
  return `00-${traceId}-${spanId}-01`;
}

/** The traces that a reconcile is linked with already: one link each, however much is done there. */
const linkedTraces = createContextKey('traces linked with the reconcile');

type Start = readonly [SpanOptions, Context];

function newReconcile(origins: readonly string[]): Start {
  const links = origins.map(linkTo).filter((link) => link !== undefined);
  return [{ kind: SpanKind.CONSUMER, links }, ROOT_CONTEXT.setValue(linkedTraces, new Set<string>())];
}

const inReconcile = (): Start => [{ kind: SpanKind.CLIENT }, context.active()];

function inTraceOf(of: TraceOf): Start {
  const own = spanContextOf(of);
  const reconcile = trace.getActiveSpan();
  const linked = context.active().getValue(linkedTraces) as Set<string> | undefined;
  if (reconcile && linked && !linked.has(own.traceId)) {
    linked.add(own.traceId);
    reconcile.addLink({ context: own });
  }
  const links = [...(reconcile ? [{ context: reconcile.spanContext() }] : []), ...linksBeyond(of)];
  return [{ kind: SpanKind.CLIENT, links }, within(of)];
}

const linksBeyond = (of: TraceOf): Link[] => tracesBeyond(of).map((other) => ({ context: spanContextOf(other) }));

const within = (of: TraceOf): Context => trace.setSpanContext(ROOT_CONTEXT, spanContextOf(of));

/** Only that is recorded: messages repeat what users wrote, including URLs with signatures. */
function errorType(error: unknown): string {
  if (error instanceof ApiError) return error.reason || String(error.status);
  return error instanceof Error ? error.name : typeof error;
}

function linkTo(traceparent: string): Link | undefined {
  const [, traceId = '', spanId = '', flags = ''] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?=$|-)/.exec(traceparent) ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? { context } : undefined;
}

type Write = (value: number, attributes: Attributes) => void;

/** The SDK may be started later than the function, and again after it was shut down: the provider is looked up at each use. */
function currentInstruments(): (metric: string) => Write {
  let current: { provider: MeterProvider; writes: ReadonlyMap<string, Write> } | undefined;
  return (metric) => {
    const provider = api.getMeterProvider();
    if (current?.provider !== provider) current = { provider, writes: writesOf(provider) };
    const write = current.writes.get(metric);
    if (!write)
      throw new Error(
        `expected a metric that is written as things happen (shared/runtime/telemetry/metrics.ts), found ${metric}`,
      );
    return write;
  };
}

function writesOf(provider: MeterProvider): ReadonlyMap<string, Write> {
  const meter = provider.getMeter(scope);
  const writes = new Map<string, Write>();
  for (const metric of metrics) {
    const { name, kind, unit, description, buckets = [] } = metric;
    if (kind === 'counter') {
      const counter = meter.createCounter(name, { unit, description });
      writes.set(name, (value, attributes) => counter.add(value, fitting(metric, attributes)));
    } else if (kind === 'histogram') {
      const advice = { explicitBucketBoundaries: [...buckets] };
      const histogram = meter.createHistogram(name, { unit, description, advice });
      writes.set(name, (value, attributes) => histogram.record(value, fitting(metric, attributes)));
    }
  }
  return writes;
}

function fitting({ name, labels }: Metric, attributes: Attributes): Attributes {
  const found = Object.keys(attributes);
  if (found.length === labels.length && labels.every((label) => label in attributes)) return attributes;
  throw new Error(
    `metric ${name}: expected the labels ${labels.join(', ') || 'none'}, found ${found.join(', ') || 'none'}`,
  );
}
