import type { DeadLetter } from '../function.ts';
import { operatorNamespace } from '../operator.ts';

/**
 * Reads what a dead letter sink is sent: `POST /<function that did not take it>`. Only the attributes are read, so that
 * unreadable or too large data is no fault here; undefined if the request is no event at all.
 */
export async function readDeadLetter(request: Request): Promise<DeadLetter | undefined> {
  const isStructured = request.headers.get('content-type')?.startsWith('application/cloudevents') ?? false;
  const text = await beginningOf(request.body, isStructured ? keptBytes : 0);
  const attributes = isStructured ? attributesIn(text) : attributesOf(request.headers);
  const { id, type, source, subject } = attributes;
  if (!id || !type || !source) return undefined;
  return {
    id: printable(id),
    type: printable(type),
    source: printable(withoutSecrets(source)),
    subject: subject ? printable(subject) : undefined,
    about: aboutOf(attributes),
    failed: failedOf(new URL(request.url).pathname, attributes.knativeerrordest),
    code: codeOf(attributes),
  };
}

type Attributes = Readonly<Record<string, string | undefined>>;

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

const attributesOf = (headers: Headers): Attributes =>
  Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('ce-')).map(([name, value]) => [name.slice('ce-'.length), value]),
  );

function attributesIn(text: string): Attributes {
  try {
    const fields = Object.entries(JSON.parse(text) as object).filter(([name]) => !name.startsWith('data'));
    return Object.fromEntries(fields.map(([name, value]) => [name, typeof value === 'object' ? '' : String(value)]));
  } catch {
    return {};
  }
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

/** A source is a URI: a password, a token in its query and a fragment are not shown. */
const withoutSecrets = (source: string) => source.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//');

const longest = 253;

const printable = (text: string) => text.replace(/\p{C}/gu, '?').slice(0, longest);
