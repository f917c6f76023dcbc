import { printable, withoutSecrets } from '../attributes.ts';

/** A span keeps at most 128 links, OpenTelemetry's default; some are for the images of the reconcile. */
const atMost = 64;

/** Where the events of a reconcile come from. */
export interface Origins {
  /** W3C traceparents. */
  traces: readonly string[];
  /** What OpenTelemetry's conventions say of messages: which event it is, or how many there are. */
  attributes: Readonly<Record<string, string | number>>;
}

/** What events say of themselves, until the reconcile that serves those events takes it up. */
export interface TraceOrigins {
  /** Keeps what an event says of its origin: CloudEvents' own attributes, and the trace that HTTP brought it in. */
  note(headers: Readonly<Record<string, string>>): void;
  /** Hands over all that was noted since the last time. */
  take(): Origins;
}

export function traceOrigins(): TraceOrigins {
  const traces = new Set<string>();
  let count = 0;
  let last: Readonly<Record<string, string>> = {};
  return {
    note(headers) {
      count += 1;
      last = headers;
      for (const found of [headers['ce-traceparent'], headers.traceparent]) {
        if (found !== undefined && traces.size < atMost) traces.add(found);
      }
    },
    take() {
      const taken = { traces: [...traces], attributes: count === 1 ? ofEvent(last) : ofBatch(count) };
      traces.clear();
      count = 0;
      return taken;
    },
  };
}

/** What Knative delivers is one event in binary mode; of one in structured mode only the number is known. */
function ofEvent(headers: Readonly<Record<string, string>>): Origins['attributes'] {
  const { 'ce-id': id, 'ce-type': type, 'ce-source': source, 'ce-subject': subject } = headers;
  const attributes = {
    'messaging.message.id': id,
    'cloudevents.event_id': id,
    'cloudevents.event_type': type,
    'cloudevents.event_source': source && withoutSecrets(source),
    'cloudevents.event_spec_version': headers['ce-specversion'],
    'cloudevents.event_subject': subject,
  };
  const entries = Object.entries(attributes).flatMap(([name, value]) =>
    value ? [[name, printable(value)] as const] : [],
  );
  return { ...Object.fromEntries(entries), ...ofBatch(1) };
}

const ofBatch = (count: number): Origins['attributes'] =>
  count === 0
    ? {}
    : {
        'messaging.system': 'knative',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        ...(count > 1 ? { 'messaging.batch.message_count': count } : {}),
      };
