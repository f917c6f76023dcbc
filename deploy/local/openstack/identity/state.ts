import type { Ids } from '../ids.ts';

/** What servers, volumes and networks belong to. */
export interface Project {
  id: string;
  name: string;
  domain_id: string;
  description: string;
  enabled: boolean;
  tags: string[];
}

/** A user who can log in. */
export interface User {
  id: string;
  name: string;
  domain_id: string;
  password: string;
  enabled: boolean;
}

/** A role of a user: admin, member, reader. */
export interface Role {
  id: string;
  name: string;
}

/** The right of a user in a project, for a while. */
export interface Token {
  id: string;
  user: User;
  project: Project | undefined;
  methods: string[];
  roles: Role[];
  issuedMs: number;
  expiresMs: number;
  auditId: string;
  /** The credential that it was asked for with. */
  credential: string | undefined;
}

/** A user's rights in one project under a secret of their own. */
export interface ApplicationCredential {
  id: string;
  name: string;
  description: string | null;
  secret: string;
  userId: string;
  projectId: string;
  roles: Role[];
  unrestricted: boolean;
  expiresMs: number | undefined;
}

/** Who asks, by the token that came along. */
export interface Caller {
  token: Token;
  userId: string;
  projectId: string;
  isAdmin: boolean;
}

/** All that Keystone knows. */
export interface IdentityState {
  projects: Map<string, Project>;
  users: Map<string, User>;
  roles: Map<string, Role>;
  /** `project user role`. */
  assignments: Set<string>;
  tokens: Map<string, Token>;
  credentials: Map<string, ApplicationCredential>;
}

/** Who may do all from the beginning (keystone-manage bootstrap). */
export const administrator = { projectName: 'admin', userName: 'admin', password: 'secret', domainId: 'default' };

/** An administrator, his project, and the roles. */
export function emptyIdentity(ids: Ids): IdentityState {
  const domain_id = administrator.domainId;
  const project = (name: string, description: string): Project => ({
    id: ids.hex(),
    name,
    domain_id,
    description,
    enabled: true,
    tags: [],
  });
  const projects = [
    project(administrator.projectName, 'Bootstrap project for initializing the cloud.'),
    project('service', ''),
  ];
  const user = {
    id: ids.hex(),
    name: administrator.userName,
    domain_id,
    password: administrator.password,
    enabled: true,
  };
  const roles = ['admin', 'member', 'reader', 'service'].map((name) => ({ id: ids.hex(), name }));
  return {
    projects: new Map(projects.map((each) => [each.id, each])),
    users: new Map([[user.id, user]]),
    roles: new Map(roles.map((role) => [role.id, role])),
    assignments: new Set(
      roles.filter(({ name }) => name === 'admin').map((role) => assignmentOf(projects[0]?.id ?? '', user.id, role.id)),
    ),
    tokens: new Map(),
    credentials: new Map(),
  };
}

/** The key of a role that a user has in a project. */
export const assignmentOf = (project: string, user: string, role: string) => `${project} ${user} ${role}`;

/** The roles of a user in a project; who is admin is also member, and a member also reader (keystone's implied roles). */
export function rolesOf(identity: IdentityState, project: string, user: string): Role[] {
  const has = (role: Role) => identity.assignments.has(assignmentOf(project, user, role.id));
  const order = ['admin', 'member', 'reader'];
  const all = [...identity.roles.values()];
  const highest = Math.min(...all.filter(has).map(({ name }) => (order.includes(name) ? order.indexOf(name) : 9)));
  const held = all.filter((role) => has(role) || (order.includes(role.name) && order.indexOf(role.name) >= highest));
  // Keystone guarantees no order; this one exposes clients that rely on another.
  return held.reverse();
}
