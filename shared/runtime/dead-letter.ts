import * as z from 'zod';
import type { DeadLetter } from '../function.ts';
import { operatorNamespace } from '../operator.ts';
import { type Attributes, attributesOf, identityOf, isStructured, printable } from './attributes.ts';

/**
 * Reads what a dead letter sink is sent: `POST /<function that did not take it>`. Only the attributes are read, so that
 * unreadable or too large data is no fault here; undefined if the request is no event at all.
 */
export async function readDeadLetter(request: Request): Promise<DeadLetter | undefined> {
  const text = await beginningOf(request.body, isStructured(request.headers.get('content-type')) ? keptBytes : 0);
  const attributes = attributesOf(request.headers, text);
  const { id, type, source } = identityOf(attributes);
  if (!id || !type || !source) return undefined;
  const code = codeOf(attributes);
  return {
    id,
    type,
    source,
    subject: attributes.subject ? printable(attributes.subject) : undefined,
    about: aboutOf(attributes),
    failed: failedOf(new URL(request.url).pathname, attributes.knativeerrordest),
    code,
    faults: code === '400' ? faultsIn(attributes.knativeerrordata) : undefined,
  };
}

const keptBytes = 1024 * 1024;
const readBytes = 256 * 1024 * 1024;

/** Lets the sender finish, however large its data is, so that it hears the answer; keeps no more than was asked for. */
async function beginningOf(body: ReadableStream<Uint8Array> | null, bytes: number): Promise<string> {
  const kept: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    if (length < bytes) kept.push(chunk);
    length += chunk.byteLength;
    if (length > readBytes) break;
  }
  return Buffer.concat(kept).toString('utf8');
}

function aboutOf({ apiversion, kind, namespace, name }: Attributes): DeadLetter['about'] {
  if (!apiversion || !kind || !name) return undefined;
  const where = namespace ? printable(namespace) : undefined;
  return { apiVersion: printable(apiversion), kind: printable(kind), namespace: where, name: printable(name) };
}

/** The path names the function even where the Broker says nothing; `/` is where Triggers of others are given up. */
function failedOf(path: string, destination = ''): string | undefined {
  const [, name, namespace] = /^https?:\/\/([^./]+)\.([^./]+)\.svc\b/.exec(destination) ?? [];
  const found = path === '/' && namespace === operatorNamespace ? name : path.slice(1);
  return found && /^[a-z0-9][-a-z0-9]{0,62}$/.test(found) ? found : undefined;
}

/** Knative's dispatcher puts a 500 of its own where a function could not be reached, with these words as its answer. */
const unreached = Buffer.from('dispatch error:').toString('base64');

const codeOf = ({ knativeerrorcode = '', knativeerrordata = '' }: Attributes) =>
  /^[1-5]\d\d$/.test(knativeerrorcode) && !knativeerrordata.startsWith(unreached) ? knativeerrorcode : undefined;

/** The answer of a function to a malformed event. */
const Answer = z.object({ faults: z.array(z.string()).min(1) });

/** Knative hands on no longer answer. */
const longestAnswer = 768;

/** What the function's answer says was wrong, for people; undefined if the answer is anything else. */
function faultsIn(data = ''): string | undefined {
  try {
    const answer = Answer.parse(JSON.parse(Buffer.from(data.slice(0, 2 * longestAnswer), 'base64').toString('utf8')));
    return printable(answer.faults.join('; '), longestAnswer) || undefined;
  } catch {
    return undefined;
  }
}
