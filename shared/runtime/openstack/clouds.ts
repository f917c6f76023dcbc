import * as z from 'zod';
import { Namespace } from '../../kinds/core/namespace.ts';
import { openstackCredentials, Secret } from '../../kinds/core/secret.ts';
import { credentialsFinalizer } from '../../kinds/kupenstack/condition.ts';
import { assignRole, createProject, listProjects, Project } from '../../kinds/openstack/project.ts';
import { uidTag } from '../../kinds/openstack/request.ts';
import type { CloudFault } from '../../openstack/status.ts';
import { operatorNamespace } from '../../operator.ts';
import type { Kube } from '../kube.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { type CloudConfig, readCloudsYaml } from './clouds-yaml.ts';
import { OpenStackError } from './open-stack-error.ts';
import { openSession, type Session, Unreachable } from './session.ts';
import { watchedCalls } from './watched-calls.ts';

/** The Secret with `clouds.yaml`: in a namespace with its own account, and in the operator's namespace for all others. */
export const credentialsName = openstackCredentials;

/** The OpenStack of a namespace: one project, and requests within it. */
export interface Cloud extends Pick<Session, 'send' | 'list'> {
  project: string;
  /** The logged-in user, so that machines of one account can share flavors. */
  account: string;
}

/** The OpenStacks of all namespaces, for one reconcile. */
export interface Clouds {
  /**
   * The OpenStack of a namespace, by its own Secret or else by the operator's, which gets a project for it. With `isDeleting` no
   * project is created: everything to clean up is in an existing one.
   */
  of(namespace: string, isDeleting?: boolean): Promise<Cloud | CloudFault>;
  /** The OpenStack of the operator's Secret, in the project that it names; undefined if the Secret does not exist. */
  shared(): Promise<Cloud | CloudFault | undefined>;
}

export const isFault = (cloud: Cloud | CloudFault): cloud is CloudFault => 'reason' in cloud;

/** Opens the Clouds of each reconcile. Tokens outlive a reconcile; losing them is harmless. */
export interface OpenStackClients {
  /** `allows`: the policy permits requests to that address. */
  open(allows: (url: string) => boolean): Clouds;
}

interface ClientPorts {
  kube: Pick<Kube, 'get'>;
  telemetry: Telemetry;
  fetch: typeof fetch;
  now(): number;
}

class NotAllowed extends Error {}

/** Sessions are cached across reconciles by namespace, while its credentials stay the same. */
export function openStackClients(ports: ClientPorts): OpenStackClients {
  const kept = new Map<string, { digest: string; session: Session; allows: { current: (url: string) => boolean } }>();
  /** Users whose roles in their project were checked: no one removes roles, and a check that cannot repair them costs a refused request. */
  const asked = new WeakSet<Session>();

  function sessionFor(key: string, config: CloudConfig, allows: (url: string) => boolean, project?: string): Session {
    const digest = JSON.stringify([config, project]);
    const known = kept.get(key);
    if (known?.digest === digest) {
      known.allows.current = allows;
      return known.session;
    }
    const current = { current: allows };
    const session = openSession(config, sessionPorts(ports, current), project);
    kept.set(key, { digest, session, allows: current });
    return session;
  }

  return {
    open(allows) {
      const opened = new Map<string, Promise<Cloud | CloudFault>>();
      const once = (key: string, open: () => Promise<Cloud | CloudFault>) => {
        const known = opened.get(key) ?? open().catch(faultOf);
        opened.set(key, known);
        return known;
      };
      // Machines are deleted before the operator is.
      const sharedConfig = () => configIn(ports.kube, operatorNamespace, true);
      return {
        of: (namespace, isDeleting = false) =>
          once(namespace, async () => {
            const own = await configIn(ports.kube, namespace, isDeleting);
            if (own) return cloudOf(sessionFor(`own ${namespace}`, own, allows));
            const config = await sharedConfig();
            if (!config) return missing(namespace);
            if (!config.isScopable) return notScopable;
            const administrator = sessionFor('shared', config, allows);
            const project = await projectOf(ports.kube, administrator, namespace, isDeleting);
            if (typeof project !== 'string') return project;
            const session = sessionFor(`shared ${namespace}`, config, allows, project);
            const cloud = await joined(session, administrator, project, asked.has(session));
            asked.add(session);
            return cloud;
          }),
        async shared() {
          const config = await sharedConfig().catch(() => undefined);
          return config && once('shared', () => cloudOf(sessionFor('shared', config, allows)));
        },
      };
    },
  };
}

const sessionPorts = (
  { telemetry, fetch, now }: ClientPorts,
  allows: { current: (url: string) => boolean },
): Parameters<typeof openSession>[1] => ({
  fetch,
  now,
  renewed: (reason) => telemetry.measure('ot.openstack.tokens', 1, { reason }),
  checked: (url) => {
    if (allows.current(url)) return;
    const origin = originOf(url);
    throw new NotAllowed(
      `expected a line for ${origin} in the policy's openstackEndpoints, found none; if functions may send requests there, add the line "${origin}/**"`,
    );
  },
  watched: watchedCalls(telemetry, now),
});

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : 'none');

/** The credentials in a namespace; undefined if it has none. */
async function configIn(
  kube: Pick<Kube, 'get'>,
  namespace: string,
  isGuardless: boolean,
): Promise<CloudConfig | undefined> {
  const secret = await kube.get(Secret, { namespace, name: credentialsName });
  if (!secret) return undefined;
  if (!isGuardless && !secret.metadata.finalizers?.includes(credentialsFinalizer)) throw new Unguarded(namespace);
  const encoded = secret.data?.['clouds.yaml'];
  if (encoded === undefined) throw new Unreadable(namespace, 'expected the key clouds.yaml, found none');
  try {
    return readCloudsYaml(Buffer.from(encoded, 'base64').toString('utf8'));
  } catch (error) {
    throw new Unreadable(namespace, error instanceof Error ? error.message : 'expected a clouds.yaml');
  }
}

/** A terminating namespace loses its Secrets first, and without them nothing on OpenStack could be deleted. */
class Unguarded extends Error {
  constructor(namespace: string) {
    super(`Secret ${namespace}/${credentialsName} is about to get the finalizer ${credentialsFinalizer}`);
  }
}

/** The message has the place and what was expected, and nothing from the Secret. */
class Unreadable extends Error {
  constructor(namespace: string, what: string) {
    super(`Secret ${namespace}/${credentialsName}, clouds.yaml: ${what}`);
  }
}

async function cloudOf(session: Session): Promise<Cloud> {
  const { project, user } = await session.login();
  return { project: project.id, account: user.id, send: session.send, list: session.list };
}

const missing = (namespace: string): CloudFault => ({
  reason: 'CredentialsMissing',
  message: `expected a Secret ${credentialsName} with clouds.yaml in namespace ${namespace} or ${operatorNamespace}, found none`,
});

const notScopable: CloudFault = {
  reason: 'CredentialsInvalid',
  message: `Secret ${operatorNamespace}/${credentialsName}: expected a password, for a project is made for each namespace; an application credential is bound to one: put it into a Secret of the namespace`,
};

/**
 * A session with the roles that the user has in the project of its clouds.yaml. Roles are missing if the creation of the project
 * was interrupted; if they cannot be added, the existing ones are used. A token has the roles of its creation.
 */
async function joined(session: Session, administrator: Session, project: string, isAsked: boolean): Promise<Cloud> {
  const held = await rolesOf(session);
  if (held && isAsked) return cloudOf(session);
  const { user, roles } = await administrator.login();
  const missing = roles.filter(({ id }) => !held?.includes(id));
  if (missing.length === 0) return cloudOf(session);
  try {
    for (const { id } of missing) await administrator.send(assignRole(project, user.id, id));
  } catch (error) {
    if (!held || !(error instanceof OpenStackError) || error.refusal === undefined) throw error;
    return cloudOf(session);
  }
  await session.renew();
  return cloudOf(session);
}

/** The roles of a user in the project of the session; undefined if it has none, and so cannot log in. */
async function rolesOf(session: Session): Promise<string[] | undefined> {
  try {
    return (await session.login()).roles.map(({ id }) => id);
  } catch (error) {
    if (error instanceof OpenStackError && error.status === 401) return undefined;
    throw error;
  }
}

/** The id of a namespace's project, found by its uid; created if it is missing. */
async function projectOf(
  kube: Pick<Kube, 'get'>,
  administrator: Session,
  name: string,
  isDeleting: boolean,
): Promise<string | CloudFault> {
  const namespace = await kube.get(Namespace, { name });
  if (!namespace) return { reason: 'ProjectMissing', message: `namespace ${name} is gone` };
  const { uid } = namespace.metadata;
  const found = await projectsOf(administrator, uid);
  const [first, second] = found;
  if (second) {
    const ids = found.map(({ id }) => id).join(', ');
    return { reason: 'ProjectRefused', message: `expected one project for namespace ${name}, found ${ids}` };
  }
  if (!first && isDeleting) return { reason: 'ProjectMissing', message: `namespace ${name} has no project` };
  try {
    if (first) return first.id;
    const operator = await kube.get(Namespace, { name: operatorNamespace });
    return await create(administrator, { name, uid }, operator?.metadata.uid ?? '');
  } catch (error) {
    if (!(error instanceof OpenStackError) || error.refusal === undefined) throw error;
    // Three functions see a new namespace at the same time; the name lets only one create the project.
    const [another] = error.refusal === 'Conflict' ? await projectsOf(administrator, uid) : [];
    if (another) return another.id;
    return { reason: 'ProjectRefused', message: `OpenStack made no project for namespace ${name}: ${error.message}` };
  }
}

const projectsOf = (administrator: Session, uid: string) =>
  administrator.list(listProjects(uidTag(uid)), 'projects', Project);

async function create(administrator: Session, namespace: { name: string; uid: string }, installation: string) {
  const { project } = await administrator.login();
  const request = createProject(namespace, { domain: project.domain, installation });
  const answer = (await administrator.send(request)) as { project: unknown };
  return Project.parse(answer.project).id;
}

/** The same for a failed read, for the objects that it was for. */
export const refusedReading = (error: unknown) => ({ fault: faultOf(error) });

/** A fault of the credentials or the connection that a user can repair; everything else is thrown. */
function faultOf(error: unknown): CloudFault {
  if (error instanceof Unreadable) return { reason: 'CredentialsInvalid', message: error.message };
  if (error instanceof Unguarded) return { reason: 'CredentialsUnguarded', message: error.message };
  if (error instanceof NotAllowed) return { reason: 'EndpointNotAllowed', message: error.message };
  if (error instanceof OpenStackError && error.status === 401)
    return {
      reason: 'CredentialsRefused',
      message: `OpenStack refuses the credentials (${error.message}): expected a login that it knows, with a role in its project`,
    };
  if (error instanceof OpenStackError && error.refusal)
    return {
      reason: 'CredentialsRefused',
      message: `OpenStack's ${error.service} refuses ${error.operation}: ${error.message}`,
    };
  if (error instanceof OpenStackError)
    return { reason: 'Unreachable', message: `OpenStack's ${error.service}: ${error.message}` };
  if (error instanceof z.ZodError)
    return { reason: 'Unreachable', message: 'expected an answer of OpenStack, found one of another form' };
  if (error instanceof Unreachable) return { reason: 'Unreachable', message: error.message };
  throw error;
}
