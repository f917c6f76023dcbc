import type { World } from './services.ts';

/** What came back, whole. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  /** The body as JSON, or as text. */
  body: unknown;
}

export interface Login {
  token: string;
  /** By the type of the service, without a slash at the end. */
  addresses: Record<string, string>;
}

/** Sends one request and reads its answer to the end. */
export async function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: string,
): Promise<RawAnswer> {
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: parsed(text) };
}

/** A token of a user for a project, and where that project finds the services. */
export async function logIn(
  world: World,
  name: string,
  password: string,
  project: { id: string } | { name: string; domain: { id: string } },
): Promise<Login> {
  const identity = { methods: ['password'], password: { user: { name, domain: { id: 'default' }, password } } };
  const body = JSON.stringify({ auth: { identity, scope: { project } } });
  const answer = await send('POST', `${world.authUrl}/auth/tokens`, { 'content-type': 'application/json' }, body);
  if (answer.status !== 201)
    throw new Error(`expected a token for ${name}, found ${answer.status} ${JSON.stringify(answer.body)}`);
  const { catalog } = (answer.body as { token: { catalog: Catalog } }).token;
  const addressOf = ({ endpoints }: Catalog[number]) =>
    endpoints.find((each) => each.interface === 'public' && each.region === world.region)?.url.replace(/\/$/, '') ?? '';
  const addresses = Object.fromEntries(
    catalog.map((each) => [each.type === 'volumev3' ? 'volume' : each.type, addressOf(each)]),
  );
  return { token: answer.headers.get('x-subject-token') ?? '', addresses };
}

type Catalog = { type: string; endpoints: { interface: string; region: string; url: string }[] }[];

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
