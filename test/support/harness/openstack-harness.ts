import { clientOf } from '../../../deploy/local/client.ts';
import { realClock, steppedClock } from '../../../deploy/local/clock.ts';
import { reflectingBy } from '../../../deploy/local/eventing/reflect.ts';
import { baseFolders, startInstalledServer } from '../../../deploy/local/installed-server.ts';
import { type OpenStack, startOpenStack } from '../../../deploy/local/openstack/start-openstack.ts';
import type { Times } from '../../../deploy/local/openstack/times.ts';
import { applyManifests } from '../../../deploy/manifests.ts';
import { permissionManifests } from '../../../knative/permissions.ts';
import type { Action } from '../../../shared/actions.ts';
import { timerAttributes } from '../../../shared/event-filter.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Event } from '../../../shared/kinds/core/event.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import type { OpenStackRequest } from '../../../shared/kinds/openstack/request.ts';
import type { KubernetesObject, ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import { withCaches } from '../../../shared/runtime/cache.ts';
import { serve } from '../../../shared/runtime/http.ts';
import type { Kube, ListOptions } from '../../../shared/runtime/kube.ts';
import { openStackClients } from '../../../shared/runtime/openstack/clouds.ts';
import { readCloudsYaml } from '../../../shared/runtime/openstack/clouds-yaml.ts';
import { openSession, type Session } from '../../../shared/runtime/openstack/session.ts';
import { telemetryOf } from '../../../shared/runtime/telemetry/telemetry.ts';
import { allowedSources } from '../builders/images.ts';
import { type Account, aCredentialsSecret, cloudsYamlOf, type SecretOptions } from '../builders/openstack.ts';
import { lightFetch } from './light-fetch.ts';
import { memoryKube } from './memory-kube.ts';

/** What each stage of anything takes on the simulated OpenStack. */
export const stageMs = 10;

const stages: (keyof Times)[] = [
  ...(['bootStage', 'stop', 'start', 'reboot', 'resizeStage', 'confirm', 'deleteServer', 'attach', 'detach'] as const),
  ...(['createVolume', 'download', 'deleteVolume', 'extend', 'importImage'] as const),
];

/** A simulated OpenStack on a clock to step; its own clock, so that nothing happens unless a test wants it. */
export async function steppedOpenStack() {
  const clock = steppedClock();
  const times = Object.fromEntries(stages.map((stage) => [stage, stageMs]));
  // Whatever Glance is to download has a kilobyte.
  const download = async () => new Response(new Uint8Array(1024), { headers: { 'content-length': '1024' } });
  return { clock, openStack: await startOpenStack({ clock, times, fetch: download }) };
}

/** OpenStack's administrator, in the project of his own. */
export const administratorOf = ({ authUrl, admin }: OpenStack): Account => ({ authUrl, ...admin });

/** That account's session, in its project or in another. */
export const sessionOf = (account: Account, now: () => number, project?: string): Session =>
  openSession(
    readCloudsYaml(cloudsYamlOf(account)),
    { fetch, now, watched: (_, run) => run(), renewed: () => undefined, checked: () => undefined },
    project,
  );

export const byHand = (
  service: OpenStackRequest['service'],
  method: OpenStackRequest['method'],
  path: string,
  body?: unknown,
): OpenStackRequest => ({ service, operation: 'byHand', method, path, ...(body === undefined ? {} : { body }) });

/** Creates a project and a user who is a member of only that. */
export async function anAccount(openStack: OpenStack, now: () => number, name: string): Promise<Account> {
  const administrator = sessionOf(administratorOf(openStack), now);
  const send = async <T>(...request: Parameters<typeof byHand>) => (await administrator.send(byHand(...request))) as T;
  const account = { authUrl: openStack.authUrl, userName: name, password: `password-of-${name}`, projectName: name };
  const { project } = await send<{ project: { id: string } }>('identity', 'POST', '/projects', { project: { name } });
  const { user } = await send<{ user: { id: string } }>('identity', 'POST', '/users', {
    user: { name, password: account.password },
  });
  const { roles } = await send<{ roles: { id: string }[] }>('identity', 'GET', '/roles?name=member');
  await send('identity', 'PUT', `/projects/${project.id}/users/${user.id}/roles/${roles[0]?.id}`);
  return account;
}

/** One process of a function: each call posts the event that Knative would, and resolves with the answer's status. */
export interface Process {
  changed(resource: Resource, ref: ObjectReference): Promise<number>;
  sweep(): Promise<number>;
  audit(): Promise<number>;
  /** All that it decided on. */
  actions: Action[];
}

/** An API server, and the function's client of it, who may do what the function declares and no more. */
async function strictKube<Observed>(declaration: FunctionDeclaration<Observed>) {
  const server = await startInstalledServer(baseFolders);
  const kube = clientOf(server);
  const permissions = permissionManifests([declaration as FunctionDeclaration]);
  await applyManifests(kube, permissions as unknown as KubernetesObject[]);
  const client = clientOf(server, server.tokenFor({ namespace: operatorNamespace, name: declaration.name }));
  return { kube, client, close: server.close };
}

/** The same in memory, where everything is permitted. */
function quickKube() {
  const kube = memoryKube();
  return { kube, client: kube, close: async () => undefined };
}

/** A function with an API server and an OpenStack around it, and nothing else. */
export async function serveOnOpenStack<Observed>(declaration: FunctionDeclaration<Observed>, { isQuick = false } = {}) {
  const { name } = declaration;
  const { clock, openStack } = await steppedOpenStack();
  const { kube, client, close } = isQuick ? quickKube() : await strictKube(declaration);
  const ending = new AbortController();
  const reflecting = reflectingBy({ clock: realClock, signal: ending.signal });
  /** The line of the policy that lets functions send requests there. */
  const endpoints = `${new URL(openStack.authUrl).origin}/**`;
  const data = { openstackEndpoints: endpoints, allowedSources };
  if (isQuick) await kube.create(ConfigMap, { metadata: policyRef, data });
  else await kube.patch(ConfigMap, policyRef, { data });
  /** What was read, of the API server and of OpenStack, since this was emptied last. */
  const reads: string[] = [];
  openStack.onCall(({ service, method, path, query }) => {
    if (method === 'GET') reads.push(`${service} ${path}${query && `?${decodeURIComponent(query)}`}`);
  });

  /** A process of the function, which ends after this many writes to the API server or to OpenStack. */
  function begin(options: { diesAfterWrites?: number; fetch?: typeof fetch } = {}): Process & { isDead(): boolean } {
    const life = mortal(
      options.diesAfterWrites ?? Number.POSITIVE_INFINITY,
      options.fetch ?? (isQuick ? lightFetch : fetch),
    );
    const alive = life.guarding(noting(client, reads));
    const actions: Action[] = [];
    const decide: typeof declaration.decide = (observed) => {
      const decided = declaration.decide(observed);
      actions.push(...decided);
      return decided;
    };
    const telemetry = telemetryOf(name);
    const { app, drain } = serve(
      { ...declaration, decide },
      {
        ...withCaches(alive, isQuick ? undefined : declaration.caches, reflecting, client),
        telemetry,
        clouds: openStackClients({ kube: alive, telemetry, fetch: life.fetch, now: clock.now }),
        now: clock.now,
        pause: async () => undefined,
        random: () => 0,
        after: () => () => undefined,
        publisher: { publish: () => undefined, republish: () => undefined },
        gracePeriodMs: 0,
      },
    );
    let sent = 0;
    const post = async (attributes: Record<string, string>) => {
      const all = { specversion: '1.0', id: String(++sent), source: '/test', ...attributes };
      const headers = Object.entries(all).map(([key, value]): [string, string] => [`ce-${key}`, value]);
      const request = { method: 'POST', headers: [...headers, ['content-type', 'application/json']], body: '{}' };
      const { status } = await app.request('/', request as RequestInit);
      await drain();
      return status;
    };
    return {
      actions,
      isDead: life.isOver,
      changed: ({ apiVersion, kind }, { namespace = '', name: of }) =>
        post({ type: 'dev.knative.apiserver.ref.update', apiversion: apiVersion, kind, namespace, name: of }),
      sweep: () => post(timerAttributes('sweep')),
      audit: () => post(timerAttributes('audit')),
    };
  }

  return {
    kube,
    clock,
    openStack,
    endpoints,
    reads,
    begin,
    /** Makes a namespace, with that account's credentials where one is given. */
    namespace: async (namespace: string, account?: Account, options: SecretOptions = {}) => {
      await kube.create(Namespace, { metadata: { name: namespace } });
      if (account) await kube.create(Secret, secretFor(account, { ...options, namespace }));
    },
    close: async () => {
      ending.abort();
      await openStack.close();
      await close();
    },
  };
}

/** The same without what the API server gives. */
export function secretFor(account: Account, options: SecretOptions) {
  const { apiVersion, kind, data, metadata } = aCredentialsSecret(cloudsYamlOf(account), options);
  const { name, namespace, finalizers } = metadata;
  return { apiVersion, kind, data, metadata: { name, namespace, finalizers } };
}

function noting(kube: Kube, reads: string[]): Kube {
  const place = ({ namespace, fieldSelector, limit }: ListOptions) =>
    [namespace, fieldSelector, limit && `limit=${limit}`].filter(Boolean).join(' ');
  const note = ({ kind }: Resource, options: ListOptions = {}) => reads.push(`list ${kind} ${place(options)}`.trim());
  return {
    ...kube,
    get: (resource, ref) => {
      reads.push(`get ${resource.kind} ${[ref.namespace, ref.name].filter(Boolean).join('/')}`);
      return kube.get(resource, ref);
    },
    list: (resource, options) => {
      note(resource, options);
      return kube.list(resource, options);
    },
    pages: (resource, options) => {
      note(resource, options);
      return kube.pages(resource, options);
    },
  };
}

/** A process that ends right after its n-th write: what it has asked for by then is done, and nothing more. */
function mortal(writes: number, send: typeof fetch) {
  let done = 0;
  const isOver = () => done >= writes;
  const living = async <T>(run: () => Promise<T>, isWrite: boolean): Promise<T> => {
    if (isOver()) throw new Error('the process has ended');
    const result = await run();
    if (isWrite) done++;
    if (isWrite && isOver()) throw new Error('the process ends');
    return result;
  };
  const guarding = (kube: Kube): Kube => ({
    ...kube,
    get: (...args) => living(() => kube.get(...args), false),
    list: (...args) => living(() => kube.list(...args), false),
    create: (resource, ...rest) => living(() => kube.create(resource, ...rest), resource.kind !== Event.kind),
    patch: (...args) => living(() => kube.patch(...args), true),
  });
  const isRead = (url: string, { method = 'GET' }: RequestInit) => method === 'GET' || url.endsWith('/auth/tokens');
  const mortalFetch = (url: string, init: RequestInit = {}) => living(() => send(url, init), !isRead(url, init));
  return { isOver, guarding, fetch: mortalFetch as typeof fetch };
}
