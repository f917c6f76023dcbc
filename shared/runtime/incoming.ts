import { HTTP } from 'cloudevents';
import * as z from 'zod';
import { isWanted, timerOf } from '../event-filter.ts';
import {
  type Batch,
  type ChangeVerb,
  type FunctionDeclaration,
  type Message,
  noEvents,
  type Signed,
  type Subject,
} from '../function.ts';
import { signedContent } from '../images/signature.ts';
import { isStructured } from './attributes.ts';

/** What an HTTP request asks of a function: a reconcile, nothing at all, or it is no event (with the faults to name). */
type Incoming = { batch: Batch } | { ignored: true } | { faults: string[] };

/** Reads a request as the CloudEvent it carries and finds what it means to this function. */
export function readIncoming(
  declaration: FunctionDeclaration,
  headers: Record<string, string>,
  body: string,
): Incoming {
  const read = readEvent(headers, body);
  if (read.faults) return read;
  const { event } = read;
  if (!isWanted(declaration.on, event)) return { ignored: true };
  if (event.type === 'dev.knative.sources.ping') return timer(event.source);
  if (event.type.startsWith('dev.knative.apiserver.')) return change(event);
  return message(declaration, event);
}

type Read = { event: Received; faults?: undefined } | { faults: string[] };

const text = z.string().min(1);

/** The attributes that an event must have, as strings; `time` as its sender wrote it. */
const Received = z.looseObject({
  id: text,
  source: text,
  type: text,
  time: z.iso.datetime({ offset: true }).optional(),
  data: z.unknown(),
});
type Received = z.infer<typeof Received>;

function readEvent(headers: Record<string, string>, body: string): Read {
  try {
    // The library takes JSON behind white space for a plain string.
    const event = HTTP.toEvent({ headers, body: body.trimStart() });
    if (Array.isArray(event)) return { faults: ['expected one CloudEvent, found a batch'] };
    const read = Received.safeParse({ ...event, time: timeOf(headers, body) });
    return read.success ? { event: read.data } : notAnEvent(faultsOf('', read.error).join('; '));
  } catch (error) {
    if (error instanceof SyntaxError) return noJson(headers);
    return notAnEvent(error instanceof Error ? error.message : String(error));
  }
}

/** In words of our own: those of the parser quote what it read. */
const noJson = (headers: Record<string, string>) =>
  'ce-id' in headers ? { faults: ['data: expected JSON, found other text'] } : notAnEvent('text that is no JSON');

/** The library uses the present if an event has no time, or an invalid one. */
function timeOf(headers: Record<string, string>, body: string): unknown {
  return isStructured(headers['content-type']) ? (JSON.parse(body) as { time?: unknown }).time : headers['ce-time'];
}

const notAnEvent = (found: string) => ({
  faults: [`expected a CloudEvent 1.0 over HTTP (headers ce-id, ce-source, ce-specversion, ce-type), found: ${found}`],
});

const faultsOf = (of: string, { issues }: z.ZodError) =>
  issues.map(({ path, message }) => `${[of, ...path.map(String)].filter(Boolean).join('.')}: ${message}`);

const timer = (source: string): Incoming => ({
  batch: { ...noEvents, [timerOf(source) === 'audit' ? 'audit' : 'sweep']: true },
});

function change(event: Received): Incoming {
  const attribute = (name: string) => (typeof event[name] === 'string' ? event[name] : '');
  const subject: Subject = {
    apiVersion: attribute('apiversion'),
    kind: attribute('kind'),
    namespace: attribute('namespace') || undefined,
    name: attribute('name'),
    verb: event.type.slice(event.type.lastIndexOf('.') + 1) as ChangeVerb,
  };
  return subject.name === '' ? { ignored: true } : { batch: { ...noEvents, subjects: [subject] } };
}

/**
 * JSON if the type of the data is not given: that is what a structured event without `datacontenttype` means (CloudEvents, JSON
 * format 3.1), which a Broker delivers without a Content-Type.
 */
function dataOf({ data, datacontenttype }: Received): unknown {
  if (typeof data !== 'string' || datacontenttype !== undefined) return data;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return data;
  }
}

function message({ on }: FunctionDeclaration, event: Received): Incoming {
  const subscription = on.find((candidate) => candidate.on === 'event' && isWanted([candidate], event));
  if (subscription?.on !== 'event') return { ignored: true };
  const data = dataOf(event);
  const parsed = subscription.schema.safeParse(data);
  const isAbsent = data === undefined || data === '';
  if (!parsed.success) {
    if (isAbsent) return { faults: ['data: expected JSON, found none'] };
    const { datacontenttype: type } = event;
    const isOtherwise = typeof data === 'string' && typeof type === 'string' && !/[/+]json\b/.test(type);
    return {
      faults: isOtherwise
        ? [`data: expected Content-Type application/json, found ${type}`]
        : faultsOf('data', parsed.error),
    };
  }
  const arrival = event.knativearrivaltime;
  const time = event.time ?? (typeof arrival === 'string' ? arrival : undefined);
  const { id, type, source } = event;
  const found: Message = { id, type, source, time, data: parsed.data, signed: signedOf(event, data) };
  return { batch: { ...noEvents, messages: [found] } };
}

function signedOf({ webhooktimestamp, webhooksignature }: Received, data: unknown): Signed | undefined {
  if (webhooktimestamp === undefined && webhooksignature === undefined) return undefined;
  return {
    timestamp: String(webhooktimestamp),
    signature: String(webhooksignature),
    content: signedContent(data),
  };
}
