import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { listLinks } from './projects.ts';
import { assignmentOf, type Role, type User } from './state.ts';
import { mustBeAdmin } from './tokens.ts';

const NewUser = z.object({
  user: z.object({
    name: z.string().min(1).max(255),
    domain_id: z.string().default('default'),
    password: z.string().default(''),
    enabled: z.boolean().default(true),
  }),
});
/** Users, roles, and who has which role where. */
export function userRoutes(cloud: Cloud): Route[] {
  const { users, roles } = cloud.identity;
  const found = ({ params: { user = '' } }: Asked) => {
    const known = users.get(user);
    if (!known) throw new Refusal(404, `Could not find user: ${user}.`);
    return known;
  };
  return [
    route('GET /users', 'listUsers', ({ caller, query }) => {
      mustBeAdmin(caller, 'identity:list_users');
      const fitting = [...users.values()].filter(({ name }) => !query.has('name') || query.get('name') === name);
      return ok({ users: fitting.map((user) => shownUser(cloud, user)), links: listLinks(cloud, '/users') });
    }),
    route('POST /users', 'createUser', ({ caller, body }) => {
      mustBeAdmin(caller, 'identity:create_user');
      const { user } = bodyAs(NewUser, body);
      if ([...users.values()].some(({ name }) => name === user.name))
        throw new Refusal(
          409,
          `Conflict occurred attempting to store user - Duplicate entry found with name ${user.name} at domain ID ${user.domain_id}.`,
        );
      const made = { id: cloud.ids.hex(), ...user };
      users.set(made.id, made);
      return ok({ user: shownUser(cloud, made) }, 201);
    }),
    route('DELETE /users/:user', 'deleteUser', (asked) => {
      mustBeAdmin(asked.caller, 'identity:delete_user');
      users.delete(found(asked).id);
      return done();
    }),
    route('GET /roles', 'listRoles', ({ caller, query }) => {
      mustBeAdmin(caller, 'identity:list_roles');
      const fitting = [...roles.values()].filter(({ name }) => !query.has('name') || query.get('name') === name);
      return ok({ roles: fitting.map((role) => shownRole(cloud, role)), links: listLinks(cloud, '/roles') });
    }),
    ...assignmentRoutes(cloud),
  ];
}

function assignmentRoutes(cloud: Cloud): Route[] {
  const { users, roles, projects, assignments } = cloud.identity;
  const key = ({ params: { project = '', user = '', role = '' } }: Asked) => assignmentOf(project, user, role);
  const check = ({ caller, params: { project = '', user = '', role } }: Asked, rule: string) => {
    mustBeAdmin(caller, rule);
    if (role !== undefined && !roles.has(role)) throw new Refusal(404, `Could not find role: ${role}.`);
    if (!projects.has(project)) throw new Refusal(404, `Could not find project: ${project}.`);
    if (!users.has(user)) throw new Refusal(404, `Could not find user: ${user}.`);
  };
  const path = '/projects/:project/users/:user/roles';
  return [
    route(`GET ${path}`, 'listAssignedRoles', (asked) => {
      check(asked, 'identity:list_grants');
      const held = [...roles.values()].filter(({ id }) =>
        assignments.has(assignmentOf(asked.params.project ?? '', asked.params.user ?? '', id)),
      );
      return ok({ roles: held.map((role) => shownRole(cloud, role)), links: listLinks(cloud, asked.path) });
    }),
    route(`PUT ${path}/:role`, 'assignRole', (asked) => {
      check(asked, 'identity:create_grant');
      assignments.add(key(asked));
      return done();
    }),
    route(`HEAD ${path}/:role`, 'checkRole', (asked) => {
      check(asked, 'identity:check_grant');
      return done(assignments.has(key(asked)) ? 204 : 404);
    }),
    route(`DELETE ${path}/:role`, 'unassignRole', (asked) => {
      check(asked, 'identity:revoke_grant');
      if (!assignments.delete(key(asked))) {
        const { project, user, role } = asked.params;
        throw new Refusal(
          404,
          `Could not find role assignment with role: ${role}, user or group: ${user}, project, domain, or system: ${project}.`,
        );
      }
      const { project, user } = asked.params;
      revokeOf(cloud, (token) => token.user.id === user && token.project?.id === project);
      return done();
    }),
  ];
}

function revokeOf(
  { identity: { tokens } }: Cloud,
  isOf: (token: { user: User; project: { id: string } | undefined }) => boolean,
) {
  for (const [id, token] of tokens) if (isOf(token)) tokens.delete(id);
}

const shownUser = (cloud: Cloud, { password: _, ...user }: User) => ({
  ...user,
  password_expires_at: null,
  options: {},
  links: { self: `${cloud.url}/identity/v3/users/${user.id}` },
});

const shownRole = (cloud: Cloud, { id, name }: Role) => ({
  id,
  name,
  domain_id: null,
  description: null,
  options: {},
  links: { self: `${cloud.url}/identity/v3/roles/${id}` },
});
