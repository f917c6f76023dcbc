import * as z from 'zod';
import { type OpenStackRequest, queryOf, step, uidTag } from './request.ts';

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

const identity = { service: 'identity' } as const;

/** Those with this tag. */
export const listProjects = (tag: string): OpenStackRequest => ({
  ...identity,
  operation: 'listProjects',
  method: 'GET',
  path: `/projects${queryOf({ tags: tag })}`,
});

/** Names are unique in a domain: the uid in it distinguishes a recreated namespace from the earlier one. */
export const createProject = (
  namespace: { name: string; uid: string },
  { domain, installation }: { domain: string; installation: string },
): OpenStackRequest => ({
  ...identity,
  operation: 'createProject',
  method: 'POST',
  path: '/projects',
  body: {
    project: {
      name: `${namespace.name}-${namespace.uid.slice(0, 8)}`,
      domain_id: domain,
      description: `kubernetes-namespace=${namespace.name}`,
      tags: ['kupenstack', installationTag(installation), uidTag(namespace.uid)],
    },
  },
});

export const listRoles = (name: string): OpenStackRequest => ({
  ...identity,
  operation: 'listRoles',
  method: 'GET',
  path: `/roles${queryOf({ name })}`,
});

/** May be repeated. */
export const assignRole = (project: string, user: string, role: string): OpenStackRequest => ({
  ...identity,
  operation: 'assignRole',
  method: 'PUT',
  path: `/projects/${step(project)}/users/${step(user)}/roles/${step(role)}`,
});

/** Keystone does not check: servers, volumes and networks in it stay behind as orphans (keystone 22). */
export const deleteProject = (id: string): OpenStackRequest => ({
  ...identity,
  operation: 'deleteProject',
  method: 'DELETE',
  path: `/projects/${step(id)}`,
  about: id,
});
