import * as z from 'zod';
import { bodyAs } from '../body.ts';
import { type Cloud, microsOf } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { listLinks } from './projects.ts';
import type { ApplicationCredential } from './state.ts';

const NewCredential = z.object({
  application_credential: z.object({
    name: z.string().min(1).max(255),
    description: z.string().nullable().default(null),
    secret: z.string().optional(),
    expires_at: z.string().nullish(),
    unrestricted: z.boolean().optional(),
    roles: z.array(z.object({ id: z.string().optional(), name: z.string().optional() })).optional(),
  }),
});

/** Application credentials: a user's rights in one project under a secret of their own. */
export function credentialRoutes(cloud: Cloud): Route[] {
  const { credentials } = cloud.identity;
  const mustBeOwn = ({ caller, params }: Asked, rule: string) => {
    if (caller.userId !== params.user && !caller.isAdmin)
      throw new Refusal(403, `You are not authorized to perform the requested action: ${rule}.`);
  };
  const found = ({ params: { user, credential = '' } }: Asked) => {
    const known = credentials.get(credential);
    if (known?.userId !== user) throw new Refusal(404, `Could not find Application Credential: ${credential}.`);
    return known as ApplicationCredential;
  };
  const path = '/users/:user/application_credentials';
  return [
    route(`POST ${path}`, 'createApplicationCredential', (asked) => {
      const { caller, params, body } = asked;
      if (caller.userId !== params.user)
        mustBeOwn({ ...asked, caller: { ...caller, isAdmin: false } }, 'identity:create_application_credential');
      const { application_credential: wanted } = bodyAs(NewCredential, body);
      if ([...credentials.values()].some(({ userId, name }) => userId === caller.userId && name === wanted.name))
        throw new Refusal(
          409,
          `Conflict occurred attempting to store application_credential - Duplicate entry found with name ${wanted.name}.`,
        );
      if (caller.token.credential !== undefined)
        throw new Refusal(
          403,
          "You are not authorized to perform the requested action: Using method 'application_credential' is not allowed for managing additional application credentials..",
        );
      const made = {
        id: cloud.ids.hex(),
        name: wanted.name,
        description: wanted.description,
        secret: wanted.secret ?? `${cloud.ids.hex()}${cloud.ids.hex()}`,
        userId: caller.userId,
        projectId: caller.projectId,
        roles: caller.token.roles.filter(
          ({ id, name }) => wanted.roles?.some((role) => role.id === id || role.name === name) ?? true,
        ),
        unrestricted: wanted.unrestricted ?? false,
        expiresMs: wanted.expires_at ? Date.parse(wanted.expires_at) : undefined,
      };
      credentials.set(made.id, made);
      // Keystone 22 repeats what was said, not what it made of it.
      const unrestricted = wanted.unrestricted ?? null;
      return ok({ application_credential: { ...shown(cloud, made), unrestricted, secret: made.secret } }, 201);
    }),
    route(`GET ${path}`, 'listApplicationCredentials', (asked) => {
      mustBeOwn(asked, 'identity:list_application_credentials');
      const own = [...credentials.values()].filter(({ userId }) => userId === asked.params.user);
      return ok({
        application_credentials: own.map((each) => shown(cloud, each)),
        links: listLinks(cloud, asked.path),
      });
    }),
    route(`GET ${path}/:credential`, 'showApplicationCredential', (asked) => {
      mustBeOwn(asked, 'identity:get_application_credential');
      return ok({ application_credential: shown(cloud, found(asked)) });
    }),
    route(`DELETE ${path}/:credential`, 'deleteApplicationCredential', (asked) => {
      mustBeOwn(asked, 'identity:delete_application_credential');
      credentials.delete(found(asked).id);
      return done();
    }),
  ];
}

const shown = (
  cloud: Cloud,
  { id, name, description, userId, projectId, roles, unrestricted, expiresMs }: ApplicationCredential,
) => ({
  id,
  name,
  description,
  project_id: projectId,
  roles: roles.map((role) => ({ id: role.id, name: role.name, domain_id: null, description: null, options: {} })),
  expires_at: expiresMs === undefined ? null : `${microsOf(expiresMs)}Z`,
  unrestricted,
  system: null,
  links: { self: `${cloud.url}/identity/v3/users/${userId}/application_credentials/${id}` },
});
