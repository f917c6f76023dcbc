import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import type { ApplicationCredential, Project, Token, User } from './state.ts';
import { administrator, rolesOf } from './state.ts';
import { issueToken, tokenOf, unauthorized } from './tokens.ts';

const Domain = z.object({ id: z.string().optional(), name: z.string().optional() });
const UserRef = z.object({ id: z.string().optional(), name: z.string().optional(), domain: Domain.optional() });
const ProjectRef = z.object({ id: z.string().optional(), name: z.string().optional(), domain: Domain.optional() });
const Login = z.object({
  auth: z.object({
    identity: z.object({
      methods: z.array(z.enum(['password', 'application_credential', 'token'])).min(1),
      password: z.object({ user: UserRef.extend({ password: z.string() }) }).optional(),
      token: z.object({ id: z.string() }).optional(),
      application_credential: z
        .object({
          id: z.string().optional(),
          name: z.string().optional(),
          secret: z.string(),
          user: UserRef.optional(),
        })
        .optional(),
    }),
    scope: z.union([z.object({ project: ProjectRef }), z.literal('unscoped')]).optional(),
  }),
});
type Login = z.infer<typeof Login>;

/** A token for a user with valid credentials; refuses all others with the same 401, so that it does not reveal what was wrong. */
export function logIn(cloud: Cloud, body: unknown): Token {
  const { identity, scope } = bodyAs(Login, body).auth;
  if (identity.application_credential && scope !== undefined)
    throw new Refusal(
      401,
      'Error authenticating with application credential: Application credentials cannot request a scope.',
      '',
      unauthorized(cloud).headers,
    );
  const who = whoIs(cloud, identity);
  if (!who?.user.enabled) throw unauthorized(cloud);
  const project = 'credential' in who ? cloud.identity.projects.get(who.credential.projectId) : projectIn(cloud, scope);
  if (project === null) throw unauthorized(cloud);
  const held = project ? rolesOf(cloud.identity, project.id, who.user.id) : [];
  const roles =
    'credential' in who ? who.credential.roles.filter(({ id }) => held.some((role) => role.id === id)) : held;
  if (project && (!project.enabled || roles.length === 0)) throw unauthorized(cloud);
  const credential = 'credential' in who ? who.credential.id : undefined;
  return issueToken(cloud, { user: who.user, project, methods: identity.methods, roles, credential });
}

type Who = { user: User } | { user: User; credential: ApplicationCredential };

function whoIs(
  cloud: Cloud,
  { password, token, application_credential: credential }: Login['auth']['identity'],
): Who | undefined {
  if (credential) return ownerOf(cloud, credential);
  const user = password ? userIn(cloud, password.user) : tokenOf(cloud, token?.id)?.user;
  if (!user || (password && user.password !== password.user.password)) return undefined;
  return { user };
}

type CredentialRef = NonNullable<Login['auth']['identity']['application_credential']>;

function ownerOf(cloud: Cloud, { id, name, secret, user }: CredentialRef): Who | undefined {
  const owner = user && userIn(cloud, user);
  const found = [...cloud.identity.credentials.values()].find((each) =>
    id === undefined ? each.name === name && each.userId === owner?.id : each.id === id,
  );
  // Keystone 22: 404, not 401, if it does not exist.
  if (!found && id !== undefined) throw new Refusal(404, `Could not find Application Credential: ${id}.`);
  const isGood = found?.secret === secret && (found.expiresMs ?? Number.POSITIVE_INFINITY) > cloud.clock.now();
  const holder = isGood ? cloud.identity.users.get(found.userId) : undefined;
  return found && holder && { user: holder, credential: found };
}

function userIn({ identity }: Cloud, { id, name, domain }: z.infer<typeof UserRef>) {
  if (id !== undefined) return identity.users.get(id);
  return [...identity.users.values()].find((user) => user.name === name && isIn(user, domain));
}

/** Undefined where none was asked for, null where there is no such project. */
function projectIn({ identity }: Cloud, scope: Login['auth']['scope']): Project | undefined | null {
  if (scope === undefined || scope === 'unscoped') return undefined;
  const { id, name, domain } = scope.project;
  if (id !== undefined) return identity.projects.get(id) ?? null;
  return [...identity.projects.values()].find((project) => project.name === name && isIn(project, domain)) ?? null;
}

const isIn = (owned: { domain_id: string }, domain: z.infer<typeof Domain> | undefined) =>
  domain?.id === owned.domain_id || (domain?.name === 'Default' && owned.domain_id === administrator.domainId);
