/** A span keeps at most 128 links, OpenTelemetry's default; some are for the images of the reconcile. */
const atMost = 64;

/** The traces that events came with, until the reconcile that serves those events takes them up. */
export interface TraceOrigins {
  /** Keeps what an event says of its origin: CloudEvents' own attribute, and the trace that HTTP brought it in. */
  note(headers: Readonly<Record<string, string>>): void;
  /** Hands over all that were noted since the last time. */
  take(): string[];
}

export function traceOrigins(): TraceOrigins {
  const noted = new Set<string>();
  return {
    note(headers) {
      for (const found of [headers['ce-traceparent'], headers.traceparent]) {
        if (found !== undefined && noted.size < atMost) noted.add(found);
      }
    },
    take() {
      const taken = [...noted];
      noted.clear();
      return taken;
    },
  };
}
