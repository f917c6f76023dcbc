import { SpanStatusCode, trace } from '@opentelemetry/api';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Call, SessionPorts } from './session.ts';

/** Counts each call to OpenStack, and makes it a span by which OpenStack's operators find the request in their own logs. */
export const watchedCalls =
  ({ span, measure }: Telemetry, now: () => number): SessionPorts['watched'] =>
  (call, run) =>
    span(`openstack ${call.operation}`, undefined, attributesOf(call), async () => {
      const startedMs = now();
      const { service, operation } = call;
      const measured = (code: string) =>
        measure('ot.openstack.call.duration', (now() - startedMs) / 1000, { service, operation, code });
      try {
        const sent = await run();
        measured(String(sent.status));
        publish(sent);
        return sent;
      } catch (error) {
        measured('none');
        throw error;
      }
    });

/** Never the query, headers or body: they contain names from users, tokens and passwords. */
function attributesOf({ service, operation, method, url }: Call): Record<string, string> {
  const attributes = {
    'ot.openstack.service': service,
    'ot.openstack.operation': operation,
    'http.request.method': method,
  };
  if (!URL.canParse(url)) return attributes;
  const { origin, pathname, hostname } = new URL(url);
  return { ...attributes, 'url.full': `${origin}${pathname}`, 'server.address': hostname };
}

function publish({ status, requestId }: Awaited<ReturnType<Parameters<SessionPorts['watched']>[1]>>): void {
  const span = trace.getActiveSpan();
  span?.setAttribute('http.response.status_code', status);
  if (requestId) span?.setAttribute('ot.openstack.request.id', requestId);
  if (status >= 300) span?.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
}
