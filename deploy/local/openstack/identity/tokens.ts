import { type Cloud, microsOf } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { catalogOf } from './catalog.ts';
import type { Caller, Token } from './state.ts';

/** How Fernet tokens begin. */
export const tokenPrefix = 'gAAAAA';

/** Makes a token; `rights` says whose and for what. */
export function issueToken(
  cloud: Cloud,
  rights: Pick<Token, 'user' | 'project' | 'methods' | 'roles' | 'credential'>,
): Token {
  const issuedMs = cloud.clock.now();
  const id = `${tokenPrefix}${cloud.ids.hex()}${cloud.ids.hex()}`;
  const token = {
    ...rights,
    id,
    issuedMs,
    expiresMs: issuedMs + cloud.times.token,
    auditId: cloud.ids.hex().slice(0, 22),
  };
  cloud.identity.tokens.set(id, token);
  return token;
}

/** The token of that id as long as it is good for something. */
export function tokenOf(cloud: Cloud, id: string | undefined): Token | undefined {
  const token = cloud.identity.tokens.get(id ?? '');
  if (!token || token.expiresMs <= cloud.clock.now() || !isAllowed(cloud, token)) return undefined;
  return token;
}

function isAllowed({ identity }: Cloud, { user, project, credential }: Token) {
  if (!identity.users.get(user.id)?.enabled) return false;
  if (credential !== undefined && !identity.credentials.has(credential)) return false;
  return project === undefined || identity.projects.get(project.id)?.enabled === true;
}

/** Who asks; refuses with 401, as keystonemiddleware does in front of every service. */
export function callerOf(cloud: Cloud, id: string | undefined): Caller {
  const token = tokenOf(cloud, id);
  if (!token) throw unauthorized(cloud);
  return {
    token,
    userId: token.user.id,
    projectId: token.project?.id ?? '',
    isAdmin: token.roles.some(({ name }) => name === 'admin'),
  };
}

/** The answer to an invalid token. */
export const unauthorized = (cloud: Cloud) =>
  new Refusal(401, 'The request you have made requires authentication.', 'Unauthorized', {
    'www-authenticate': `Keystone uri="${cloud.url}/identity/v3"`,
  });

/** Refuses who is no administrator, by the rule of Keystone's policy. */
export const mustBeAdmin = (caller: Caller, rule: string) => {
  if (!caller.isAdmin)
    throw new Refusal(403, `You are not authorized to perform the requested action: ${rule}.`, 'Forbidden');
};

/** A token as keystone shows it. */
export function shownToken(cloud: Cloud, token: Token) {
  const { user, project, methods, roles, issuedMs, expiresMs, auditId } = token;
  const domain = { id: user.domain_id, name: 'Default' };
  return {
    token: {
      methods,
      user: { domain, id: user.id, name: user.name, password_expires_at: null },
      audit_ids: [auditId],
      expires_at: `${microsOf(expiresMs)}Z`,
      issued_at: `${microsOf(issuedMs)}Z`,
      ...(project && {
        project: { domain, id: project.id, name: project.name },
        is_domain: false,
        roles: roles.map(({ id, name }) => ({ id, name })),
        catalog: catalogOf(cloud, project.id),
      }),
      ...(token.credential && { application_credential: shownCredential(cloud, token.credential) }),
    },
  };
}

function shownCredential({ identity }: Cloud, id: string) {
  const { name, unrestricted } = identity.credentials.get(id) ?? { name: '', unrestricted: false };
  return { id, name, restricted: !unrestricted };
}
