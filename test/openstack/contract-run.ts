import { setTimeout as sleep } from 'node:timers/promises';
import { type Login, logIn, type RawAnswer, send } from './contract-connection.ts';
import { Mask } from './contract-mask.ts';
import type { Step, Who } from './contract-step.ts';
import type { World } from './services.ts';

const patience = { ms: 60_000 };

/** What one step was answered, as recordings keep it. */
export interface Told {
  ask: string;
  status: number;
  /** What was seen on the way, each once, where the step waits for something. */
  seen?: unknown[];
  headers: Record<string, string>;
  body?: unknown;
}

interface Session {
  world: World;
  saved: Record<string, string>;
  logins: Record<'admin' | 'owner' | 'member', Login>;
  mask: Mask;
}

/** Runs a case's steps in order, in a project of its own, and gives each masked answer. */
export async function runCase(
  world: World,
  steps: readonly Step[],
  saved: Record<string, string> = {},
): Promise<Told[]> {
  const session = await open(world, saved);
  const told: Told[] = [];
  try {
    for (const step of steps) told.push(await runStep(session, step));
  } finally {
    if (world.isLasting) await clearUp(session);
  }
  return told;
}

async function open(world: World, given: Record<string, string>): Promise<Session> {
  const run = crypto.randomUUID().slice(0, 8);
  const admin = await logIn(world, world.userName, world.password, {
    name: world.projectName,
    domain: { id: 'default' },
  });
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json', 'x-auth-token': admin.token };
    return (
      await send(method, `${world.authUrl}${path}`, headers, body === undefined ? undefined : JSON.stringify(body))
    ).body as never;
  };
  const idOf = (answer: Record<string, { id: string }>, kind: string) => answer[kind]?.id ?? '';
  const project = idOf(
    await ask('POST', '/projects', { project: { name: `contract-${run}`, domain_id: 'default' } }),
    'project',
  );
  const user = idOf(
    await ask('POST', '/users', { user: { name: `user-${run}`, domain_id: 'default', password: `password-${run}` } }),
    'user',
  );
  const { roles } = (await ask('GET', '/roles')) as { roles: { id: string; name: string }[] };
  const { users } = (await ask('GET', `/users?name=${world.userName}`)) as { users: [{ id: string }] };
  const role = (name: string) => roles.find((each) => each.name === name)?.id ?? '';
  await ask('PUT', `/projects/${project}/users/${user}/roles/${role('member')}`);
  await ask('PUT', `/projects/${project}/users/${users[0].id}/roles/${role('admin')}`);
  const owner = await logIn(world, world.userName, world.password, { id: project });
  const member = await logIn(world, `user-${run}`, `password-${run}`, { id: project });
  const { projects } = (await ask('GET', `/projects?name=${world.projectName}`)) as { projects: [{ id: string }] };
  const saved = {
    ...given,
    run,
    project,
    user,
    administrator: users[0].id,
    adminProject: projects[0].id,
    memberRole: role('member'),
    memberToken: member.token,
    adminToken: admin.token,
    adminName: world.userName,
    adminPassword: world.password,
  };
  return {
    world,
    saved,
    logins: { admin, owner, member },
    mask: new Mask(wordsFor(world, owner, { ...given, run, project })),
  };
}

/** Where services are, in all the forms that they name themselves by. */
function wordsFor({ authUrl }: World, { addresses }: Login, { run, project = '', files = '' }: Record<string, string>) {
  const rootOf = (service: string) =>
    (addresses[service] ?? '').replace(new RegExp(`/v2\\.1$|/v3/${project}$|/v3$`), '');
  const roots = ['compute', 'volume', 'network', 'image'].map((service) => [rootOf(service), `<${service}>`]);
  return {
    ...Object.fromEntries(roots),
    [authUrl.replace(/\/v3$/, '')]: '<identity>',
    [run ?? '']: '<run>',
    [project]: '<project>',
    [files]: '<files>',
  };
}

async function runStep(session: Session, step: Step): Promise<Told> {
  const { world, saved, mask } = session;
  const seen: unknown[] = [];
  const from = Date.now();
  let answer = await ask(session, step);
  while (step.until) {
    const now =
      isOver(step.until, answer) && 'status' in step.until ? `HTTP ${answer.status}` : lookAt(answer, step.until.paths);
    if (JSON.stringify(now) !== JSON.stringify(seen.at(-1))) seen.push(now);
    if (isOver(step.until, answer)) break;
    if (Date.now() - from > patience.ms)
      throw new Error(`${step.ask}: waited for ${JSON.stringify(step.until)}, saw ${JSON.stringify(seen)}`);
    await world.pause();
    answer = await ask(session, step);
  }
  for (const [name, path] of Object.entries(step.save ?? {})) saved[name] = valueAt(answer, path);
  const { status, headers, body } = answer;
  const shown = ['content-type', 'x-openstack-request-id', ...(step.shows ?? [])].flatMap((name) => {
    const value = headers.get(name);
    // The missing body is not compared.
    return value === null || (name === 'content-type' && body === '')
      ? []
      : [[name, name === 'x-openstack-request-id' ? '<request>' : mask.text(value.replace(/; *charset=.*/i, ''))]];
  });
  const compared = step.pick ? step.pick(body as never) : body;
  return {
    ask: step.ask,
    status,
    headers: Object.fromEntries(shown) as Record<string, string>,
    ...(step.until ? { seen: mask.of(seen) as unknown[] } : { body: mask.of(compared) }),
  };
}

const lookAt = ({ body }: RawAnswer, paths: readonly string[]) => paths.map((path) => at(body, path));

function isOver(until: NonNullable<Step['until']>, answer: RawAnswer): boolean {
  if ('status' in until) return answer.status === until.status;
  const found = JSON.stringify(lookAt(answer, until.paths));
  return 'are' in until ? found === JSON.stringify(until.are) : found !== JSON.stringify(until.areNot);
}

async function ask({ world, saved, logins }: Session, step: Step): Promise<RawAnswer> {
  const [method = '', service = '', path = ''] = filled(step.ask, saved).split(' ');
  const address = service === 'identity' ? world.authUrl : (logins.owner.addresses[service] ?? '');
  const inProject = step.as === 'admin' && service === 'volume' ? (logins.admin.addresses.volume ?? '') : address;
  const body = step.bytes ?? (step.body === undefined ? undefined : filled(JSON.stringify(step.body), saved));
  const given = Object.fromEntries(
    Object.entries(step.headers ?? {}).map(([name, value]) => [name, filled(value, saved)]),
  );
  const headers = {
    // Glance answers HTML to who does not say so.
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...versionOf(service, step),
    ...tokenOf(logins, saved, service, step.as),
    ...given,
  };
  return send(
    method,
    `${inProject}${path === '/' ? '' : path}`.replace(/(?<=\/v2\.1|\/v3)$/, path === '/' ? '/' : ''),
    headers,
    body,
  );
}

function versionOf(service: string, { version }: Step): Record<string, string> {
  const usual: Record<string, string> = { compute: '2.79', volume: '3.59' };
  const said = version === undefined ? usual[service] : version;
  return said && service in usual ? { 'openstack-api-version': `${service} ${said}` } : {};
}

function tokenOf(
  logins: Session['logins'],
  saved: Record<string, string>,
  service: string,
  as: Who | undefined,
): Record<string, string> {
  const who = as ?? (service === 'identity' ? 'admin' : 'member');
  if (who === 'nobody') return {};
  return { 'x-auth-token': who in logins ? logins[who as keyof typeof logins].token : filled(who, saved) };
}

/** What a case left in its project, from servers down; nothing of it is waited for long. */
async function clearUp({ world, logins: { owner, admin }, saved }: Session) {
  const call = (method: string, url: string, token = owner.token) =>
    send(method, url, { 'x-auth-token': token }).catch(() => ({ status: 0, headers: new Headers(), body: undefined }));
  const idsAt = async (service: string, path: string, kind: string) => {
    const { body } = await call('GET', `${owner.addresses[service]}${path}`);
    return ((body as Record<string, { id: string }[]> | undefined)?.[kind] ?? []).map(({ id }) => id);
  };
  const { compute, volume, network, image } = owner.addresses;
  for (const id of await idsAt('compute', '/servers', 'servers')) await call('DELETE', `${compute}/servers/${id}`);
  for (let tries = 0; tries < 50 && (await idsAt('compute', '/servers', 'servers')).length > 0; tries++)
    await sleep(200);
  for (const id of await idsAt('volume', '/volumes', 'volumes')) await call('DELETE', `${volume}/volumes/${id}`);
  for (const id of await idsAt('image', `/v2/images?owner=${saved.project}`, 'images'))
    await call('DELETE', `${image}/v2/images/${id}`);
  for (const kind of ['ports', 'networks'])
    for (const id of await idsAt('network', `/v2.0/${kind}?project_id=${saved.project}`, kind))
      await call('DELETE', `${network}/v2.0/${kind}/${id}`);
  const { body } = await call('GET', `${admin.addresses.compute}/flavors?is_public=None`, admin.token);
  for (const { id, name } of (body as { flavors?: { id: string; name: string }[] } | undefined)?.flavors ?? [])
    if (name.includes(saved.run ?? '?')) await call('DELETE', `${admin.addresses.compute}/flavors/${id}`, admin.token);
  await call('DELETE', `${world.authUrl}/users/${saved.user}`, admin.token);
  await call('DELETE', `${world.authUrl}/projects/${saved.project}`, admin.token);
}

const filled = (text: string, saved: Readonly<Record<string, string>>) =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => saved[name] ?? whole);

const valueAt = ({ headers, body }: RawAnswer, path: string) =>
  path.startsWith('header:') ? (headers.get(path.slice('header:'.length)) ?? '') : String(at(body, path));

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);
