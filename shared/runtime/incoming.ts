import { type CloudEventV1, HTTP } from 'cloudevents';
import { type FunctionDeclaration, isChangeOf, type Message, type Subject, type Wake } from '../function.ts';

/** What an HTTP request asks of a function: a pass, nothing at all, or it is no event (with the faults to name). */
export type Incoming = { wake: Wake } | { ignored: true } | { faults: string[] };

const none: Wake = { subjects: [], messages: [], sweep: false, audit: false };

/** Reads a request as the CloudEvent it carries and finds what it means to this function. */
export function readIncoming(
  declaration: FunctionDeclaration,
  headers: Record<string, string>,
  body: string,
): Incoming {
  const read = readEvent(headers, body);
  if (read.faults) return read;
  const { event } = read;
  if (event.type === 'dev.knative.sources.ping') return timer(declaration, event.source);
  if (event.type.startsWith('dev.knative.apiserver.')) return change(declaration, event);
  return message(declaration, event, headers);
}

type Read = { event: CloudEventV1<unknown>; faults?: undefined } | { faults: string[] };

function readEvent(headers: Record<string, string>, body: string): Read {
  try {
    const event = HTTP.toEvent({ headers, body });
    if (Array.isArray(event)) return { faults: ['expected one CloudEvent, found a batch'] };
    if (!event.type || !event.source || !event.id) throw new Error('type, source or id is missing');
    return { event: event as CloudEventV1<unknown> };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return {
      faults: [
        `expected a CloudEvent 1.0 over HTTP (headers ce-id, ce-source, ce-specversion, ce-type), found: ${found}`,
      ],
    };
  }
}

function timer({ on }: FunctionDeclaration, source: string): Incoming {
  const name = source.split('/').pop();
  if (name !== 'sweep' && name !== 'audit') return { ignored: true };
  return on.some((waker) => waker.on === name) ? { wake: { ...none, [name]: true } } : { ignored: true };
}

function change({ on }: FunctionDeclaration, event: CloudEventV1<unknown>): Incoming {
  const text = (name: string) => (typeof event[name] === 'string' ? (event[name] as string) : '');
  const subject: Subject = {
    apiVersion: text('apiversion'),
    kind: text('kind'),
    namespace: text('namespace') || undefined,
    name: text('name'),
  };
  const isOurs = subject.name !== '' && on.some((waker) => isChangeOf(waker, subject));
  return isOurs ? { wake: { ...none, subjects: [subject] } } : { ignored: true };
}

function message({ on }: FunctionDeclaration, event: CloudEventV1<unknown>, headers: Record<string, string>): Incoming {
  const waker = on.find((candidate) => candidate.on === 'event' && candidate.type === event.type);
  if (waker?.on !== 'event') return { ignored: true };
  const parsed = waker.schema.safeParse(event.data);
  if (!parsed.success) {
    return {
      faults: parsed.error.issues.map(
        ({ path, message }) => `data${path.map((key) => `.${String(key)}`).join('')}: ${message}`,
      ),
    };
  }
  const isDated = headers['ce-time'] !== undefined || headers['content-type']?.startsWith('application/cloudevents');
  const arrival = event.knativearrivaltime;
  const time = isDated ? event.time : typeof arrival === 'string' ? arrival : undefined;
  const { id, type, source } = event;
  const found: Message = { id, type, source, time, data: parsed.data };
  return { wake: { ...none, messages: [found] } };
}
