import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import * as z from 'zod';

const attributes = z
  .array(z.object({ key: z.string(), value: z.looseObject({ stringValue: z.string().optional() }) }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? ''])));

/** What an ExportTraceServiceRequest has that is looked at here: opentelemetry-proto, trace/v1, as its JSON encoding writes it. */
const Request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              startTimeUnixNano: z.string(),
              endTimeUnixNano: z.string(),
              attributes,
              links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
            }),
          ),
        }),
      ),
    }),
  ),
});

/** A span as a collector gets it, with the name of the service that sent it. */
export type CollectedSpan = z.infer<typeof Request>['resourceSpans'][number]['scopeSpans'][number]['spans'][number] & {
  service: string;
};

export interface Collector {
  /** What OTEL_EXPORTER_OTLP_ENDPOINT is to be, with `http/json` as protocol. */
  url: string;
  /** All that came, in the order in which it came. */
  spans: readonly CollectedSpan[];
  /** Bodies as they came, to search them for what must not be in them. */
  bodies: readonly string[];
  /** Resolves once what came has made it so; looks at each arrival. Rejects after that many milliseconds. */
  until(isSo: (spans: readonly CollectedSpan[]) => boolean, withinMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A receiver of OTLP over HTTP that keeps the spans it gets, and takes everything else for read. */
export async function startCollector(host = '127.0.0.1'): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const lookers = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url === '/v1/traces') {
      bodies.push(body);
      for (const { resource, scopeSpans } of Request.parse(JSON.parse(body)).resourceSpans) {
        const service = resource.attributes['service.name'] ?? '';
        spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))));
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    for (const look of lookers) look();
  }).listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    spans,
    bodies,
    until: async (isSo, withinMs) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = () => isSo(spans) && resolve();
      const late = setTimeout(
        () => reject(new Error(`expected other spans within ${withinMs} ms: ${said(spans)}`)),
        withinMs,
      );
      lookers.add(look);
      look();
      await promise.finally(() => {
        lookers.delete(look);
        clearTimeout(late);
      });
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const said = (spans: readonly CollectedSpan[]) =>
  spans.map(({ traceId, service, name }) => `${traceId.slice(0, 6)} ${service}: ${name}`).join('\n');
