import type { IncomingMessage, ServerResponse } from 'node:http';
import { delay } from '../clock.ts';
import type { Cloud } from './cloud.ts';
import type { FaultBook } from './faults.ts';
import { keystoneBody } from './identity/identity.ts';
import { callerOf } from './identity/tokens.ts';
import { minorOf, versionHeaders } from './microversion.ts';
import { malformed, noRoute, Refusal, titleOf } from './refusal.ts';
import { type Answer, type Asked, match, type Route } from './route.ts';
import type { Service, ServiceName } from './service.ts';

/** One call that was answered, or whose answer was lost. */
export interface Call {
  service: ServiceName;
  method: string;
  /** Behind the service's own address. */
  path: string;
  /** What is asked of a list as it came, `tags=a%3Ab&limit=1`; '' where nothing is. */
  query: string;
  /** `createServer`; '' where there is no such thing. */
  operation: string;
  status: number;
}

/** What requests are answered with. */
interface Desk {
  cloud: Cloud;
  services: readonly Service[];
  faults: FaultBook;
  tell(call: Call): void;
}

/** Answers one request as the service does that its path names. */
export async function answer(request: IncomingMessage, response: ServerResponse, desk: Desk): Promise<void> {
  const { cloud, faults } = desk;
  const url = new URL(request.url ?? '/', 'http://localhost');
  const service = desk.services.find(({ prefix }) => url.pathname === prefix || url.pathname.startsWith(`${prefix}/`));
  if (!service) return void response.writeHead(404).end();
  if (faults.isCutOff(service.name)) return void response.destroy();
  const bytes = await bytesOf(request);
  const waitMs = faults.waitMs(service.name);
  if (waitMs > 0) await delay(cloud.clock, waitMs);
  const path = url.pathname.slice(service.prefix.length) || '/';
  const requestId = `req-${cloud.ids.uuid()}`;
  const asked = {
    method: request.method ?? 'GET',
    path,
    query: url.searchParams,
    headers: headersOf(request),
    bytes,
    requestId,
  };
  const { operation, isLost, ...given } = await handle(desk, service, asked);
  const query = url.search.slice(1);
  desk.tell({ service: service.name, method: asked.method, path, query, operation, status: given.status });
  if (isLost) return void response.destroy();
  send(response, given, { 'x-openstack-request-id': requestId, ...versionHeaders(service, asked.headers, requestId) });
}

type Coming = Omit<Asked, 'params' | 'body' | 'caller' | 'minor'>;

async function handle(
  { cloud, faults }: Desk,
  service: Service,
  coming: Coming,
): Promise<Answer & { operation: string; isLost: boolean }> {
  const path = coming.path.length > 1 ? coming.path.replace(/\/$/, '') : coming.path;
  const found = match(service.routes, coming.method, path);
  let operation = '';
  const call = `${coming.method} ${path}`;
  try {
    if (found?.route.isOpen !== true) callerOf(cloud, coming.headers['x-auth-token']);
    if (!found) throw new Refusal(404, 'The resource could not be found.', noRoute);
    const body = bodyIn(coming);
    operation = operationOf(found.route, body);
    const failure = faults.takeFailure(operation, call);
    if (failure) throw new Refusal(failure.status, titleOf(failure.status), 'FailedOnPurpose', failure.headers);
    const minor = minorOf(service, coming.headers);
    const caller = found.route.isOpen ? (undefined as never) : callerOf(cloud, coming.headers['x-auth-token']);
    const given = await found.route.answer({ ...coming, path, params: found.params, body, caller, minor });
    return { ...given, operation, isLost: faults.takeLoss(operation, call) };
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, `Unexpected API Error. ${String(error)}`);
    const body = refusal.status === 401 ? unauthorizedBody(service, refusal) : service.refusalBody(refusal);
    return { status: refusal.status, body, headers: refusal.headers, operation, isLost: false };
  }
}

/** What stands in front of a service answers as Keystone does; Glance has a text of its own. */
const unauthorizedBody = (service: Service, refusal: Refusal) =>
  service.unauthorizedBody?.(refusal) ?? keystoneBody(refusal);

const operationOf = ({ operation }: Route, body: unknown) =>
  typeof operation === 'string' ? operation : operation(body);

function bodyIn({ bytes, headers }: Coming): unknown {
  if (bytes.length === 0 || headers['content-type'] === 'application/octet-stream') return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Refusal(400, 'Malformed request body', malformed);
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const headersOf = ({ headers }: IncomingMessage) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

function send(response: ServerResponse, { status, body, headers }: Answer, always: Readonly<Record<string, string>>) {
  if (body === undefined) return void response.writeHead(status, { ...always, ...headers }).end();
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...always,
      ...headers,
    })
    .end(text);
}
