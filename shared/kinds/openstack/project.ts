import * as z from 'zod';
import { queryOf, requestTo, step, uidTag } from './request.ts';

/** A project of Keystone: what a namespace has of an OpenStack that all namespaces share. */
export const Project = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().default(''),
  tags: z.array(z.string()).default([]),
});
export type Project = z.infer<typeof Project>;

/** On every project of one installation: several clusters may share an OpenStack, and must not touch each other's projects. */
export const installationTag = (uid: string) => `kupenstack:installation=${uid}`;

const request = requestTo('identity');

/** Those with this tag. */
export const listProjects = (tag: string) => request('listProjects', 'GET', `/projects${queryOf({ tags: tag })}`);

/** Names are unique in a domain: the uid in it distinguishes a recreated namespace from the earlier one. */
export const createProject = (
  namespace: { name: string; uid: string },
  { domain, installation }: { domain: string; installation: string },
) =>
  request('createProject', 'POST', '/projects', {
    body: {
      project: {
        name: `${namespace.name}-${namespace.uid.slice(0, 8)}`,
        domain_id: domain,
        description: `kubernetes-namespace=${namespace.name}`,
        tags: ['kupenstack', installationTag(installation), uidTag(namespace.uid)],
      },
    },
  });

export const listRoles = (name: string) => request('listRoles', 'GET', `/roles${queryOf({ name })}`);

/** May be repeated. */
export const assignRole = (project: string, user: string, role: string) =>
  request('assignRole', 'PUT', `/projects/${step(project)}/users/${step(user)}/roles/${step(role)}`);

/** Keystone does not check: servers, volumes and networks in it stay behind as orphans (keystone 22). */
export const deleteProject = (id: string) => request('deleteProject', 'DELETE', `/projects/${step(id)}`, { about: id });
