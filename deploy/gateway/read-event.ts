import { HTTP } from 'cloudevents';
import * as z from 'zod';
import { ImagePublished } from '../../shared/events.ts';
import { aheadAtMostMs, takenForMs } from '../../shared/images/signature.ts';
import { eventSchemas } from './config.ts';
import { Refusal } from './refusal.ts';

/** The part of an event that passes: the attributes that a function reads, and the data that its schema defines. */
export interface PipelineEvent {
  id: string;
  source: string;
  type: string;
  time: string | undefined;
  /** When it was published, by `time` or else the gateway's clock: milliseconds since 1970, a whole second, as it is signed. */
  atMs: number;
  subject: string | undefined;
  traceparent: string | undefined;
  data: ImagePublished;
}

const text = z.string().min(1).max(1024);
const traceparent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Attributes as their sender wrote them; the library puts its own in where time is missing. */
const Attributes = z.object({
  specversion: z.literal('1.0'),
  id: text,
  source: text,
  type: text,
  time: z.iso.datetime({ offset: true }).optional(),
  subject: text.optional(),
  traceparent: z.string().regex(traceparent, "expected W3C's form").optional(),
  data: z.unknown(),
});

/** Reads the one CloudEvent of a request, binary or structured; throws a Refusal, 400 with all faults, where it does not fit its schema. */
export function readEvent(headers: Record<string, string>, body: string, nowMs: number): PipelineEvent {
  const attributes = Attributes.safeParse(parse(headers, body));
  if (!attributes.success) throw malformed(faultsOf('ce', attributes.error));
  const { specversion: _, type, time, subject, data, ...rest } = attributes.data;
  if (time !== undefined && Date.parse(time) > nowMs + aheadAtMostMs) {
    throw malformed([`ce.time: expected a time that is not ahead of the gateway's clock, found ${time}`]);
  }
  if (time !== undefined && Date.parse(time) < nowMs - takenForMs) {
    throw malformed([`ce.time: expected a time of the last five hours, found ${time}`]);
  }
  const schema = type in eventSchemas ? eventSchemas[type as keyof typeof eventSchemas] : undefined;
  if (!schema) throw new Refusal(403, `expected an event of type ${Object.keys(eventSchemas).join(' or ')}`);
  const parsed = schema.safeParse(data);
  if (!parsed.success) throw malformed(faultsOf('data', parsed.error));
  const atMs = Math.floor((time === undefined ? nowMs : Date.parse(time)) / 1000) * 1000;
  return { ...rest, type, time, atMs, subject, traceparent: rest.traceparent, data: parsed.data };
}

const ImageName = ImagePublished.pick({ name: true, namespace: true });

/** Which image a query asks for; throws a Refusal, 400 with all faults, if it names none. */
export function readName(query: Record<string, string>): z.infer<typeof ImageName> {
  const parsed = ImageName.safeParse(query);
  if (!parsed.success) throw malformed(faultsOf('query', parsed.error));
  return parsed.data;
}

function parse(headers: Record<string, string>, body: string): object {
  try {
    const event = HTTP.toEvent({ headers, body });
    if (Array.isArray(event)) throw new Error('a batch');
    const isStructured = headers['content-type']?.startsWith('application/cloudevents');
    const time = isStructured ? (JSON.parse(body) as { time?: unknown }).time : headers['ce-time'];
    return { ...event, time };
  } catch (error) {
    throw malformed([
      `expected one CloudEvent 1.0 over HTTP, found: ${error instanceof Error ? error.message : error}`,
    ]);
  }
}

const malformed = (faults: string[]) => new Refusal(400, faults.join('; '));

const faultsOf = (of: string, { issues }: z.ZodError) =>
  issues.map(({ path, message }) => `${[of, ...path.map(String)].join('.')}: ${message}`);
